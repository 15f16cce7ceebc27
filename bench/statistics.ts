/** The value in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The value that a share of the values is below; NaN of none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The mean of the middle half: a few disturbed values do not move it. */
export function middleMean(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const cut = Math.floor(sorted.length / 4);
  const middle = sorted.slice(cut, sorted.length - cut);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** A ratio that was measured several times, with the bounds that the true one is within. */
export interface Estimate {
  readonly ratio: number;
  /** Of 95 estimates in a hundred the true ratio is between these. */
  readonly low: number;
  readonly high: number;
}

/** Student's t for 95 % on two sides, by the degrees of freedom from 1 on; then that of many. */
const STUDENT_T = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16];
const STUDENT_T_OF_MANY = 2.1;

/** The mean of ratios, and how far it may be off. Ratios multiply, so their logarithms are averaged. */
export function estimate(ratios: readonly number[]): Estimate {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  const freedom = logs.length - 1;
  const t = STUDENT_T[freedom - 1] ?? STUDENT_T_OF_MANY;
  const error =
    freedom < 1 ? Number.POSITIVE_INFINITY : Math.sqrt(squares / freedom / logs.length) * t;
  return { ratio: Math.exp(mean), low: Math.exp(mean - error), high: Math.exp(mean + error) };
}
