// Times rows against each other, as `src/measure.rs` does natively.
//
// A row is { name, side, run(from, to) }: `run` answers the requests from `from` up to `to` and returns
// the number of wrong answers. A row with `covers` answers only that many requests.
// A wrong answer ends the run: no figure of a row that errs is ever shown.

/** The time of one row: enough for a steady figure, short enough for rivals that scan every rule. */
const FULL = { check: 2e9, warmUp: 1e9, least: 3e8, sample: 5e6, slowSample: 4e7, samples: 20 };
const QUICK = { check: 3e8, warmUp: 3e8, least: 5e7, sample: 2e6, slowSample: 1e7, samples: 7 };
/** Fewer passes than this measure the just-in-time compiler. */
const WARM_UP_PASSES = 100;

/** Checks, warms up and times `rows`; `renew` makes new request objects before each pass. */
export function measure(rows, job, renew) {
  const bounds = job.bounds ?? (job.quick ? QUICK : FULL);
  const timed = [];
  for (const row of rows) timed.push(warmUp(row, job, renew, bounds));
  const turns = [...timed];
  for (let sample = 0; sample < bounds.samples; sample++) {
    for (const one of turns) one.times.push(takeSample(one, renew));
    // Forwards and backwards, so that a machine that grows slower in the meantime favours no row.
    turns.reverse();
  }
  return timed.map(({ row, checked, times }) => ({
    name: row.name,
    side: row.side,
    nanoseconds: median(times),
    requests: checked,
  }));
}

/** Runs a row until it is warm, and decides how much of the workload one sample takes. */
function warmUp(row, job, renew, bounds) {
  const all = row.covers ?? job.requests.length;
  const checked = check(row, all, renew, bounds.check);
  const start = now();
  let passes = 0;
  let last = 0;
  do {
    renew?.();
    last = time(row, 0, checked);
    passes++;
  } while (now() - start < bounds.warmUp && (passes < WARM_UP_PASSES || now() - start < bounds.least));
  const slow = last > bounds.slowSample;
  return {
    row,
    checked,
    passes: renew === undefined ? Math.ceil(bounds.sample / last) : 1,
    size: slow ? Math.max(1, Math.floor((bounds.slowSample * checked) / last)) : checked,
    at: 0,
    times: [],
  };
}

/** Compares answers with the expected ones, all of them unless the row is too slow for that. */
function check(row, all, renew, budget) {
  renew?.();
  const start = now();
  let checked = 0;
  for (let size = 1; checked < all && now() - start < budget; size *= 2) {
    const to = Math.min(all, checked + size);
    time(row, checked, to);
    checked = to;
  }
  return checked;
}

/** Nanoseconds of one decision. */
function takeSample(one, renew) {
  const { row, checked, passes, size } = one;
  if (size < checked) return part(one) / size;
  let sum = 0;
  for (let pass = 0; pass < passes; pass++) {
    renew?.();
    sum += time(row, 0, checked);
  }
  return sum / (passes * checked);
}

/** Times the next part of the workload of a slow row, so that its samples see different requests. */
function part(one) {
  if (one.at + one.size > one.checked) one.at = 0;
  const from = one.at;
  one.at += one.size;
  return time(one.row, from, one.at);
}

/** Returns the nanoseconds in which a row answers some requests. */
export function time({ name, run }, from, to) {
  const start = now();
  const wrong = run(from, to);
  const taken = now() - start;
  if (wrong > 0) throw new Error(`${name}: ${wrong} wrong answers`);
  return taken;
}

/** Returns nanoseconds as a number, exact for longer than a run lasts. */
export function now() {
  return Number(process.hrtime.bigint() - ORIGIN);
}

const ORIGIN = process.hrtime.bigint();

export function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
