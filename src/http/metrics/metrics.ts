import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the service counts, in the Prometheus text format. */
export interface Metrics {
  /** Counts an answered request. */
  countRequest(operation: string, status: number): void;
  /** Notes how long the engine took for the flags of one request, in seconds. */
  observeEvaluation(seconds: number): void;
  /** Counts a reply that the contract does not allow. */
  countContractViolation(operation: string): void;
  /** Counts a merge of two persons that was asked for and did not happen. */
  countRefusedMerge(projectId: number, reason: string): void;
  /** Adds a gauge whose value is read when the metrics are. */
  addGauge(name: string, help: string, read: () => number): void;
  /** Adds a counter of something that is counted elsewhere, read when the metrics are. */
  addCounter(name: string, help: string, read: () => number): void;
  /** Adds a gauge with one value for each label, read when the metrics are. */
  addLabelledGauge(
    name: string,
    help: string,
    label: string,
    read: () => Iterable<readonly [string, number]>,
  ): void;
  /** The metrics as text. */
  render(): Promise<string>;
}

/**
 * A registry of its own, so that two services in one process do not mix. What is counted for each
 * request is counted in plain numbers, and told to the registry when somebody reads them.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'burgee_' });
  const answered = new Map<string, Map<number, number>>();
  new Counter({
    name: 'burgee_requests_total',
    help: 'Requests by operation and status.',
    labelNames: ['operation', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [operation, byStatus] of answered) {
        for (const [status, count] of byStatus) this.labels(operation, String(status)).inc(count);
      }
    },
  });
  const violations = new Counter({
    name: 'burgee_contract_violations_total',
    help: 'Replies that the contract does not allow, by operation.',
    labelNames: ['operation'],
    registers,
  });
  const refusedMerges = new Counter({
    name: 'burgee_refused_merges_total',
    help: 'Merges of two persons that were asked for and did not happen, by project and reason.',
    labelNames: ['project', 'reason'],
    registers,
  });
  const observeEvaluation = addEvaluationTimes(registers);
  return {
    countRequest(operation, status) {
      let byStatus = answered.get(operation);
      if (byStatus === undefined) {
        byStatus = new Map();
        answered.set(operation, byStatus);
      }
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    },
    observeEvaluation,
    countContractViolation: (operation) => violations.labels(operation).inc(),
    countRefusedMerge: (projectId, reason) => refusedMerges.labels(String(projectId), reason).inc(),
    addGauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    addCounter(name, help, read) {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
    addLabelledGauge(name, help, label, read) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const [value, reading] of read()) this.labels(value).set(reading);
        },
      });
    },
    render: () => registry.metrics(),
  };
}

/** How many times are kept before they are sorted into buckets. */
const KEPT_TIMES = 256;

/**
 * The histogram of evaluations. Sorting a time in costs a microsecond, one by one among other work, so
 * times are kept and sorted in together: when there are many, and before somebody reads.
 */
function addEvaluationTimes(registers: Registry[]): Metrics['observeEvaluation'] {
  const kept = new Float64Array(KEPT_TIMES);
  let count = 0;
  const sortIn = () => {
    for (let at = 0; at < count; at += 1) histogram.observe(kept[at] ?? 0);
    count = 0;
  };
  const histogram = new Histogram({
    name: 'burgee_evaluation_seconds',
    help: 'Time that the engine took for the flags of one request.',
    buckets: [0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
    registers,
    collect: sortIn,
  });
  return (seconds) => {
    kept[count] = seconds;
    count += 1;
    if (count === KEPT_TIMES) sortIn();
  };
}
