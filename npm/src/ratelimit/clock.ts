// The time of this process.

/** Returns microseconds since 1970 that never go back, also if the clock of the machine does. */
export function steady(now?: () => number): () => number {
  if (now === undefined) return wallMicros();
  let latest = 0;
  return () => {
    const time = now();
    // What is no number stands still too: it would admit everything, or nothing for ever.
    if (time > latest) latest = Math.floor(time);
    return latest;
  };
}

/**
 * Returns what the clock of the machine says at first, and what has passed since by the one that never goes
 * back, which is read once a millisecond: reading it costs a third of a check on some machines, and the clock
 * of the machine tells cheaply when a millisecond has passed.
 */
function wallMicros(): () => number {
  let [millisecond, latest, start] = [0, 0, Number.NaN];
  return () => {
    const date = Date.now();
    if (date === millisecond) return latest;
    millisecond = date;
    const passed = performance.now();
    // Not before the first use: workers have no time while they start.
    if (Number.isNaN(start)) start = date - passed;
    latest = Math.max(latest, Math.floor((start + passed) * 1000));
    return latest;
  };
}
