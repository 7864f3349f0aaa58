// Handles exceptions in listeners of the caller.
//
// They are neither swallowed nor allowed to change the behaviour of the package: the runtime
// reports them like exceptions in event listeners.

/** Calls a listener and reports its exception. */
export function callListener<T>(listener: (value: T) => unknown, value: T): void {
  try {
    const outcome = listener(value);
    // An asynchronous listener fails later.
    if (outcome instanceof Promise) outcome.catch(report);
  } catch (thrown) {
    report(thrown);
  }
}

function report(thrown: unknown): void {
  if (typeof globalThis.reportError === "function") return globalThis.reportError(thrown);
  queueMicrotask(() => {
    throw thrown;
  });
}
