import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  it('counts requests by operation and status', async () => {
    const metrics = createMetrics();
    metrics.countRequest('evaluateFlags', 200);
    metrics.countRequest('evaluateFlags', 200);
    metrics.countRequest('evaluateFlags', 503);
    const text = await metrics.render();
    expect(text).toContain('burgee_requests_total{operation="evaluateFlags",status="200"} 2');
    expect(text).toContain('burgee_requests_total{operation="evaluateFlags",status="503"} 1');
  });

  it('counts replies that break the contract', async () => {
    const metrics = createMetrics();
    metrics.countContractViolation('listFeatureFlags');
    expect(await metrics.render()).toContain(
      'burgee_contract_violations_total{operation="listFeatureFlags"} 1',
    );
  });

  it('sorts the time of evaluations into buckets', async () => {
    const metrics = createMetrics();
    metrics.observeEvaluation(0.0002);
    const text = await metrics.render();
    expect(text).toContain('burgee_evaluation_seconds_bucket{le="0.0001"} 0');
    expect(text).toContain('burgee_evaluation_seconds_bucket{le="0.0003"} 1');
    expect(text).toContain('burgee_evaluation_seconds_count 1');
  });

  it('counts every evaluation, however many there are', async () => {
    const metrics = createMetrics();
    for (let times = 0; times < 1_000; times += 1) metrics.observeEvaluation(0.002);
    expect(await metrics.render()).toContain('burgee_evaluation_seconds_bucket{le="0.003"} 1000');
    metrics.observeEvaluation(0.002);
    expect(await metrics.render()).toContain('burgee_evaluation_seconds_count 1001');
  });

  it('reads a gauge at the moment when it is asked for', async () => {
    const metrics = createMetrics();
    let depth = 1;
    metrics.addGauge('depth', 'How deep.', () => depth);
    expect(await metrics.render()).toMatch(/^depth 1$/m);
    depth = 2;
    expect(await metrics.render()).toMatch(/^depth 2$/m);
  });

  it('reads a counter at the moment when it is asked for', async () => {
    const metrics = createMetrics();
    let refused = 1;
    metrics.addCounter('refused_total', 'How many.', () => refused);
    expect(await metrics.render()).toMatch(/^refused_total 1$/m);
    refused = 5;
    expect(await metrics.render()).toMatch(/^refused_total 5$/m);
  });

  it('forgets the labels of a gauge that are no longer there', async () => {
    const metrics = createMetrics();
    let readings: [string, number][] = [
      ['1', 5],
      ['2', 6],
    ];
    metrics.addLabelledGauge('revision', 'Which one.', 'project', () => readings);
    expect(await metrics.render()).toMatch(/^revision\{project="2"\} 6$/m);
    readings = [['1', 7]];
    const text = await metrics.render();
    expect(text).toMatch(/^revision\{project="1"\} 7$/m);
    expect(text).not.toContain('project="2"');
  });

  it('tells the lag of the event loop', async () => {
    expect(await createMetrics().render()).toContain('burgee_nodejs_eventloop_lag_seconds');
  });

  it('keeps two services of one process apart', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.countRequest('evaluateFlags', 200);
    expect(await other.render()).not.toContain('operation="evaluateFlags"');
  });
});
