import { describe, expect, it } from 'vitest';
import { Admission, limitsFor, overloaded } from './admission.ts';

const MIB = 1024 * 1024;
const LIMITS = {
  maxRequests: 10,
  maxBytes: 1_000,
  addressRequestShare: 0.5,
  addressByteShare: 0.5,
};

/** How many of these requests there is room for. */
function countRoom(admission: Admission, address: string, bytes: number, most = 100): number {
  const connection = admission.connect(address);
  let count = 0;
  while (count < most && connection.enter(bytes)) count += 1;
  return count;
}

describe('Admission', () => {
  it('lets one address have its share of requests, and everybody all of them', () => {
    const admission = new Admission(LIMITS);
    expect(countRoom(admission, 'a', 0)).toBe(5);
    expect(countRoom(admission, 'a', 0)).toBe(0);
    expect(countRoom(admission, 'b', 0)).toBe(5);
    expect(countRoom(admission, 'c', 0)).toBe(0);
  });

  it('lets one address have its share of bytes, and everybody all of them', () => {
    const admission = new Admission(LIMITS);
    expect(countRoom(admission, 'a', 250)).toBe(2);
    expect(countRoom(admission, 'a', 1)).toBe(0);
    expect(countRoom(admission, 'b', 500)).toBe(1);
    expect(countRoom(admission, 'c', 1)).toBe(0);
    expect(countRoom(admission, 'c', 0, 3)).toBe(3);
  });

  it('counts bytes that were not announced', () => {
    const admission = new Admission(LIMITS);
    const connection = admission.connect('a');
    expect(connection.enter(100)).toBe(true);
    expect(connection.addBytes(400)).toBe(true);
    expect(connection.addBytes(1)).toBe(false);
    connection.leave(500);
    expect(countRoom(admission, 'a', 100)).toBe(5);
  });

  it('tells what is under way, and how much it refused', () => {
    const admission = new Admission(LIMITS);
    const connection = admission.connect('a');
    expect(connection.enter(300)).toBe(true);
    expect(connection.enter(300)).toBe(false);
    expect(connection.addBytes(300)).toBe(false);
    expect(admission.load()).toEqual({ requests: 1, bytes: 300, refused: 2 });
    connection.leave(300);
    expect(admission.load()).toEqual({ requests: 0, bytes: 0, refused: 2 });
  });

  it('has room again when requests are answered', () => {
    const admission = new Admission(LIMITS);
    const connection = admission.connect('a');
    for (let request = 0; request < 1_000; request += 1) {
      expect(connection.enter(500)).toBe(true);
      expect(connection.enter(500)).toBe(false);
      connection.leave(500);
    }
  });

  it('gets back what is left when a connection closes, once', () => {
    const admission = new Admission(LIMITS);
    const connection = admission.connect('a');
    const other = admission.connect('a');
    expect(other.enter(100)).toBe(true);
    expect(connection.enter(200)).toBe(true);
    expect(connection.enter(200)).toBe(true);
    connection.leave(200);
    connection.close();
    connection.close();
    connection.leave(200);
    expect(countRoom(admission, 'a', 100)).toBe(4);
  });

  it('lets nothing in on a connection that is closed', () => {
    const connection = new Admission(LIMITS).connect('a');
    connection.close();
    expect(connection.enter(0)).toBe(false);
    expect(connection.addBytes(1)).toBe(false);
  });

  it('goes on counting for an address while it has a connection', () => {
    const admission = new Admission(LIMITS);
    const first = admission.connect('a');
    expect(first.enter(500)).toBe(true);
    admission.connect('a').close();
    expect(admission.connect('a').enter(1)).toBe(false);
    first.close();
    expect(admission.connect('a').enter(500)).toBe(true);
  });
});

describe('limitsFor', () => {
  it.each([
    [64 * MIB, 48 * MIB],
    [256 * MIB, 64 * MIB],
    [1024 * MIB, 256 * MIB],
    [8192 * MIB, 512 * MIB],
  ])('gives a heap of %d bytes room for %d bytes of bodies', (heap, bytes) => {
    expect(limitsFor(heap).maxBytes).toBe(bytes);
  });

  it('has room for the largest body from one address in any process', () => {
    for (const { maxBytes, addressByteShare } of [limitsFor(1), limitsFor()]) {
      expect(maxBytes * addressByteShare).toBeGreaterThan(26_214_400);
    }
  });
});

describe('overloaded', () => {
  it('asks to come back', () => {
    expect(overloaded()).toMatchObject({ kind: 'unavailable', code: 'overloaded' });
  });
});
