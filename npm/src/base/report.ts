// What becomes of exceptions in functions that the caller wants to be called.
//
// They belong to the caller: they are neither swallowed nor allowed to change what the package does. The
// runtime gets them as it gets those of event listeners.

/** Calls a function of the caller, which cannot do any harm here. */
export function guarded<T>(listener: (value: T) => unknown, value: T): void {
  try {
    const outcome = listener(value);
    // One that is asynchronous fails later.
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
