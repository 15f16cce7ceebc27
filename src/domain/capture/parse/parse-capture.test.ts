import { describe, expect, it } from 'vitest';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import type { JsonValue } from '../../common/json.ts';
import type { CaptureEvent } from './capture-event.ts';
import type { CapturePath, CaptureTimes } from './parse-capture.ts';

const NOW = new Date('2026-03-04T15:00:00Z');
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function parse(body: JsonValue, context: Partial<CaptureTimes & { path: CapturePath }> = {}) {
  return parseCaptureBody(body, { path: 'event', receivedAt: NOW, ...context });
}

function parseOne(fields: Record<string, JsonValue>): CaptureEvent {
  const [event] = parse({ api_key: 't', event: 'x', distinct_id: 'u', ...fields }).events;
  if (event === undefined) throw new Error('the event was removed');
  return event;
}

describe('the four shapes of a body', () => {
  it('reads a single event', () => {
    const parsed = parse({
      api_key: 'phc_x',
      event: 'signup',
      distinct_id: 'u1',
      properties: { plan: 'pro' },
      timestamp: '2026-01-02T03:04:05Z',
    });
    expect(parsed).toMatchObject({ token: 'phc_x' });
    expect(parsed.events).toEqual([
      {
        uuid: expect.stringMatching(UUID_V7),
        event: 'signup',
        distinctId: 'u1',
        properties: { plan: 'pro' },
        timestamp: new Date('2026-01-02T03:04:05Z'),
        receivedAt: NOW,
      },
    ]);
  });

  it('reads a batch and ignores what libraries add to it', () => {
    const item = { type: 'capture', library: 'x', messageId: 1, event: 'a', distinct_id: 'u' };
    const parsed = parse(
      { api_key: 't', historical_migration: true, library: 'x', batch: [item, item] },
      { path: 'event' },
    );
    expect(parsed.events.map(({ event }) => event)).toEqual(['a', 'a']);
  });

  it('reads an array of events', () => {
    const parsed = parse([{ event: 'a', properties: { token: 't', distinct_id: 'u1' } }]);
    expect(parsed).toMatchObject({ token: 't', events: [{ event: 'a', distinctId: 'u1' }] });
  });

  it('takes a nameless body on the engage path as an identify', () => {
    const parsed = parse({ token: 't', $distinct_id: 'u', $set: { a: 1 } }, { path: 'engage' });
    expect(parsed.events).toMatchObject([
      { event: '$identify', distinctId: 'u', properties: { $set: { a: 1 } } },
    ]);
  });

  it('removes performance events and keeps the request good', () => {
    const item = { event: '$performance_event', distinct_id: 'u' };
    expect(parse({ api_key: 't', batch: [item] }).events).toEqual([]);
  });
});

describe('distinct ids', () => {
  it('prefers the top level over properties, and any value over null', () => {
    expect(parseOne({ properties: { distinct_id: 'p' } }).distinctId).toBe('u');
    expect(parseOne({ distinct_id: null, $distinct_id: 'd' }).distinctId).toBe('d');
    expect(parseOne({ distinct_id: null, properties: { distinct_id: 'p' } }).distinctId).toBe('p');
  });

  it.each<[JsonValue, string]>([
    [23, '23'],
    [true, 'true'],
    [{ b: [{ d: 1, c: 2 }], a: 1 }, '{"a":1,"b":[{"c":2,"d":1}]}'],
    [[1, 'x'], '[1,"x"]'],
    [' u ', ' u '],
    ['a\0b', 'a\ufffdb'],
    ['a'.repeat(201), 'a'.repeat(200)],
    ['😀'.repeat(201), '😀'.repeat(200)],
    ['\ud800x', '\ufffdx'],
  ])('turns %j into text', (distinct_id, expected) => {
    expect(parseOne({ distinct_id }).distinctId).toBe(expected);
  });
});

describe('names, uuids and properties', () => {
  it('cuts event names at 200 characters', () => {
    expect(parseOne({ event: 'é'.repeat(300) }).event).toBe('é'.repeat(200));
  });

  it.each(['', null])('makes a UUIDv7 for %j', (uuid) => {
    expect(parseOne({ uuid }).uuid).toMatch(UUID_V7);
  });

  it.each([
    '01A1FA98-7CF7-790C-AF81-56731CADA99E',
    '01a1fa987cf7790caf8156731cada99e',
    '{01a1fa98-7cf7-790c-af81-56731cada99e}',
    'urn:uuid:01a1fa98-7cf7-790c-af81-56731cada99e',
  ])('accepts the uuid form %s', (uuid) => {
    expect(parseOne({ uuid }).uuid).toBe('01a1fa98-7cf7-790c-af81-56731cada99e');
  });

  it('merges top-level person properties over those of the properties', () => {
    const event = parseOne({
      $set: { a: 1 },
      $set_once: { c: 3 },
      $unset: ['x'],
      properties: { k: 1, $set: { a: 0, b: 2 }, $unset: { y: true } },
    });
    expect(event.properties).toEqual({
      k: 1,
      $set: { a: 1, b: 2 },
      $set_once: { c: 3 },
      $unset: ['y', 'x'],
    });
  });

  it('replaces what PostgreSQL cannot store, in keys and values at any depth', () => {
    const properties = JSON.parse(
      '{"a\\u0000":"\\u0000","n":[{"k\\ud800":"\\udfff😀"}],"__proto__":{"x":"\\u0000"}}',
    );
    const cleaned = parseOne({ properties }).properties;
    expect(JSON.stringify(cleaned)).toBe(
      '{"a\ufffd":"\ufffd","n":[{"k\ufffd":"\ufffd😀"}],"__proto__":{"x":"\ufffd"}}',
    );
  });
});

describe('clocks', () => {
  const at = (fields: Record<string, JsonValue>, sentAt?: string): string =>
    parse(
      [{ api_key: 't', event: 'x', distinct_id: 'u', ...fields }],
      sentAt === undefined ? {} : { sentAt: new Date(sentAt) },
    ).events[0]?.timestamp.toISOString() ?? '';

  it('removes the skew of the client clock', () => {
    const timestamp = '2026-03-04T12:00:00Z';
    expect(at({ timestamp }, '2026-03-04T12:00:10Z')).toBe('2026-03-04T14:59:50.000Z');
  });

  it('prefers the batch sent_at over the query, and obeys $ignore_sent_at', () => {
    const timestamp = '2026-03-04T12:00:00Z';
    const sent_at = '2026-03-04T12:00:10Z';
    const ignoring = { $ignore_sent_at: true };
    const parsed = parse(
      {
        api_key: 't',
        sent_at,
        batch: [
          { event: 'x', distinct_id: 'u', timestamp },
          { event: 'x', distinct_id: 'u', timestamp, properties: ignoring },
        ],
      },
      { sentAt: new Date('2026-03-04T13:00:00Z') },
    );
    expect(parsed.events.map((event) => event.timestamp.toISOString())).toEqual([
      '2026-03-04T14:59:50.000Z',
      '2026-03-04T12:00:00.000Z',
    ]);
  });

  it('lets an offset override everything', () => {
    expect(at({ offset: 5000, timestamp: '2026-01-01' })).toBe('2026-03-04T14:59:55.000Z');
  });

  it('is now without a usable clock, and for more than 23 hours ahead', () => {
    expect(at({})).toBe(NOW.toISOString());
    expect(at({ timestamp: 'soon' })).toBe(NOW.toISOString());
    expect(at({ timestamp: '2026-03-05T21:00:00Z' })).toBe(NOW.toISOString());
    expect(at({ timestamp: '2026-03-05T13:00:00Z' })).toBe('2026-03-05T13:00:00.000Z');
  });

  it('is the epoch for a year that no calendar has', () => {
    expect(at({ offset: 9e14 })).toBe('1970-01-01T00:00:00.000Z');
    expect(at({ offset: 9e300 })).toBe('1970-01-01T00:00:00.000Z');
  });
});
