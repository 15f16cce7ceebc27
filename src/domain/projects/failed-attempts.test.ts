import { describe, expect, it } from 'vitest';
import { FailedAttempts } from './failed-attempts.ts';

function attempts() {
  const clock = { time: 1_000_000 };
  const failures = new FailedAttempts(() => clock.time);
  const note = (address: string, times: number) => {
    for (let time = 0; time < times; time += 1) failures.note(address);
  };
  return { clock, failures, note };
}

describe('FailedAttempts', () => {
  it('suspects an address that sends twenty bad keys within ten seconds', () => {
    const { clock, failures, note } = attempts();
    note('a', 19);
    expect(failures.isSuspect('a')).toBe(false);
    clock.time += 10_000;
    note('a', 1);
    expect(failures.isSuspect('a')).toBe(true);
  });

  it('suspects no other address', () => {
    const { failures, note } = attempts();
    note('a', 1_000);
    note('b', 19);
    expect([failures.isSuspect('b'), failures.isSuspect('c')]).toEqual([false, false]);
  });

  it('forgets after ten seconds, and counts anew', () => {
    const { clock, failures, note } = attempts();
    note('a', 20);
    clock.time += 10_001;
    expect(failures.isSuspect('a')).toBe(false);
    note('a', 19);
    expect(failures.isSuspect('a')).toBe(false);
    note('a', 1);
    expect(failures.isSuspect('a')).toBe(true);
  });

  it('tells apart a limited number of addresses', () => {
    const { failures, note } = attempts();
    note('a', 20);
    for (let address = 0; address < 10_000; address += 1) note(`other ${address}`, 1);
    expect(failures.isSuspect('a')).toBe(false);
  });
});
