const BUCKETS_SECONDS = [
  0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3,
] as const;

/**
 * Times sorted into fixed buckets, in the Prometheus text format. One observation is a few
 * comparisons and an addition, since there is one for each request.
 */
export class TimeHistogram {
  readonly #name: string;
  readonly #help: string;
  /** How many fell into each bucket alone; the last one has no upper end. */
  readonly #counts = new Float64Array(BUCKETS_SECONDS.length + 1);
  #sum = 0;

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < BUCKETS_SECONDS.length && seconds > (BUCKETS_SECONDS[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  render(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`];
    let total = 0;
    for (const [index, count] of this.#counts.entries()) {
      total += count;
      lines.push(`${this.#name}_bucket{le="${BUCKETS_SECONDS[index] ?? '+Inf'}"} ${total}`);
    }
    lines.push(`${this.#name}_sum ${this.#sum}`, `${this.#name}_count ${total}`);
    return `${lines.join('\n')}\n`;
  }
}
