import { describe, expect, it } from 'vitest';
import { SingleFlight } from './single-flight.ts';

/** Work that waits until it is told to end. */
function aJob() {
  let runs = 0;
  let end: (result: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const work = () => {
    runs += 1;
    return new Promise<string>((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
  };
  return {
    work,
    end: (result: string) => end(result),
    fail: (error: Error) => fail(error),
    runs: () => runs,
  };
}

describe('SingleFlight', () => {
  it('runs once for all who ask for the same key meanwhile', async () => {
    const flight = new SingleFlight<string, string>();
    const job = aJob();
    const all = [flight.run('a', job.work), flight.run('a', job.work), flight.run('a', job.work)];
    job.end('done');
    expect(await Promise.all(all)).toEqual(['done', 'done', 'done']);
    expect(job.runs()).toBe(1);
  });

  it('keeps keys apart', async () => {
    const flight = new SingleFlight<string, string>();
    const [one, other] = [aJob(), aJob()];
    const both = [flight.run('a', one.work), flight.run('b', other.work)];
    other.end('of b');
    one.end('of a');
    expect(await Promise.all(both)).toEqual(['of a', 'of b']);
  });

  it('runs again for whoever asks after it ended', async () => {
    const flight = new SingleFlight<string, number>();
    let runs = 0;
    const work = async () => {
      runs += 1;
      return runs;
    };
    expect(await flight.run('a', work)).toBe(1);
    expect(await flight.run('a', work)).toBe(2);
  });

  it('tells a failure to all who waited, and then tries again', async () => {
    const flight = new SingleFlight<string, string>();
    const job = aJob();
    const all = Promise.allSettled([flight.run('a', job.work), flight.run('a', job.work)]);
    job.fail(new Error('lost'));
    expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await flight.run('a', async () => 'found')).toBe('found');
  });
});
