// How long a sweep still takes, as far as what was seen of it allows to say.

export interface Sample {
  /** Seconds on any clock. */
  at: number;
  done: number;
}

const leastSteps = 5;
const leastSeconds = 3;
const steady = 2;

/**
 * Seconds left, or null where nobody can tell: too little was seen, the rate varies, or nothing has come for longer than
 * between any two steps before (a program is being compiled, which no count of points foretells). The slower rate
 * counts of the whole time's and its later half's. `samples` are in time, the first one without a step before it.
 * Example: 10 points each second from 0 to 100 of 200: 10.
 */
export function secondsLeft(samples: Sample[], total: number, now: number): number | null {
  const steps = samples.filter((one, k) => k === 0 || one.done > (samples[k - 1] as Sample).done);
  const first = steps[0];
  const last = steps[steps.length - 1];
  if (!first || !last || last.done >= total || steps.length - 1 < leastSteps || last.at - first.at < leastSeconds) return null;
  const gaps = steps.slice(1).map((one, k) => one.at - (steps[k] as Sample).at);
  if (now - last.at > 1.5 * Math.max(...gaps)) return null;
  const middle = steps.find((one) => one.at >= (first.at + last.at) / 2) ?? last;
  const rate = (from: Sample) => (last.done - from.done) / (last.at - from.at);
  const rates = [rate(first), middle === last ? 0 : rate(middle)];
  const slow = Math.min(...rates);
  if (!(slow > 0) || Math.max(...rates) / slow > steady) return null;
  return Math.max(0, (total - last.done) / slow - (now - last.at));
}

/** A time left in coarse steps, upwards: 5 s below a minute, then a tenth of what it is. */
export function roundedUp(seconds: number): number {
  const step = seconds < 60 ? 5 : 10 ** Math.floor(Math.log10(seconds));
  return Math.max(5, Math.ceil(seconds / step - 1e-9) * step);
}
