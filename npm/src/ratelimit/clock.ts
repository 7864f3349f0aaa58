// The time of this process.

/** Returns microseconds since 1970 that never go back, also if the clock of the machine does. */
export function steady(now: () => number = wallMicros()): () => number {
  let latest = 0;
  return () => {
    const time = now();
    // What is no number stands still too: it would admit everything, or nothing for ever.
    if (time > latest) latest = Math.floor(time);
    return latest;
  };
}

/**
 * Returns the clock that never goes back, read once a millisecond: reading it costs as much as the rest
 * of a check on some machines, and the clock of the machine tells cheaply when a millisecond has passed.
 */
function wallMicros(): () => number {
  let [millisecond, micros] = [0, 0];
  return () => {
    const date = Date.now();
    if (date !== millisecond) {
      millisecond = date;
      micros = (performance.timeOrigin + performance.now()) * 1000;
    }
    return micros;
  };
}
