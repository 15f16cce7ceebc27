import { describe, expect, it } from 'vitest';
import { parseCaptureBody } from '../../../../test/parse-capture-body.ts';
import type { JsonValue } from '../../common/json.ts';
import { Refusal, type RefusalKind } from '../../common/refusal.ts';
import { EVENTS_MAX, readCaptureBody } from './parse-capture.ts';

const NOW = new Date('2026-03-04T15:00:00Z');

function parse(body: JsonValue) {
  return parseCaptureBody(body, { path: 'event', receivedAt: NOW });
}

function parseOne(fields: Record<string, JsonValue>) {
  return parse({ api_key: 't', event: 'x', distinct_id: 'u', ...fields });
}

function refusal(run: () => unknown): { kind: RefusalKind; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return { kind: error.kind, message: error.detail };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('refused bodies', () => {
  it.each<[string, JsonValue, RefusalKind, string]>([
    ['an empty batch', { api_key: 't', batch: [] }, 'malformed', 'request holds no event'],
    ['an empty array', [], 'malformed', 'request holds no event'],
    [
      'a nameless body',
      { token: 't', $distinct_id: 'u' },
      'malformed',
      'failed to hydrate events from request: non-engage request missing event name attribute',
    ],
    [
      'no key',
      { event: 'x', distinct_id: 'u' },
      'authentication_failed',
      'event submitted without an api_key',
    ],
    [
      'two keys',
      [
        { event: 'a', api_key: 't1', distinct_id: 'u' },
        { event: 'b', api_key: 't2', distinct_id: 'u' },
      ],
      'authentication_failed',
      'batch submitted with inconsistent api_key values',
    ],
    [
      'an empty name',
      { api_key: 't', event: '', distinct_id: 'u' },
      'malformed',
      'event submitted with an empty event name',
    ],
    ['no id', { api_key: 't', event: 'x' }, 'malformed', 'event submitted without a distinct_id'],
    [
      'a blank id',
      { api_key: 't', event: 'x', distinct_id: ' ' },
      'malformed',
      'event submitted without a distinct_id',
    ],
    [
      'a malformed uuid',
      { api_key: 't', event: 'x', distinct_id: 'u', uuid: 'nope' },
      'malformed',
      'failed to hydrate events from request: invalid uuid',
    ],
    [
      'a cookieless mode that is no boolean',
      { api_key: 't', event: 'x', distinct_id: 'u', properties: { $cookieless_mode: 'yes' } },
      'malformed',
      'event submitted with invalid cookieless mode',
    ],
    [
      'properties that are null',
      { api_key: 't', event: 'x', distinct_id: 'u', properties: null },
      'malformed',
      'failed to hydrate events from request: `properties` must be an object',
    ],
    [
      'person properties that are no object',
      { api_key: 't', event: 'x', distinct_id: 'u', $set: [] },
      'malformed',
      'failed to hydrate events from request: `$set` must be an object',
    ],
    [
      'a text',
      'x',
      'malformed',
      'failed to hydrate events from request: expected an object or an array of events',
    ],
    [
      'a number among events',
      [1],
      'malformed',
      'failed to hydrate events from request: each event must be an object',
    ],
  ])('refuses %s', (_title, body, kind, message) => {
    expect(refusal(() => parse(body))).toEqual({ kind, message });
  });

  it('refuses the whole batch for one bad event', () => {
    const good = { event: 'a', distinct_id: 'u' };
    const body = { api_key: 't', batch: [good, { event: 'b' }] };
    expect(refusal(() => parse(body)).kind).toBe('malformed');
  });

  it('refuses values nested too deeply, instead of overflowing the stack', () => {
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
    const fields = [{ properties: { deep } }, { distinct_id: deep }, { $set: { deep } }];
    for (const field of fields) {
      expect(refusal(() => parseOne(field)).message).toBe(
        'failed to parse request: recursion limit exceeded',
      );
    }
  });

  it('takes as many events as can wait for their commit, and no more', () => {
    const event = { event: 'a', distinct_id: 'u' };
    const most = Array.from({ length: EVENTS_MAX }, () => event);
    expect(parse({ api_key: 't', batch: most }).events).toHaveLength(EVENTS_MAX);
    for (const body of [{ api_key: 't', batch: [...most, event] }, [...most, event]]) {
      expect(refusal(() => parse(body))).toEqual({
        kind: 'too_large',
        message: 'maximum event size exceeded: the request holds more than 20000 events',
      });
    }
  });

  it('tells whose the events are before it looks at one', () => {
    const { token, items } = readCaptureBody({ api_key: 't', batch: [{ event: 7 }] }, 'event');
    expect({ token, items }).toEqual({ token: 't', items: [{ event: 7 }] });
  });
});

describe('the project key', () => {
  it.each([
    ['', 'empty'],
    ['x'.repeat(65), 'too_long'],
    ['tökén', 'not_ascii'],
    ['phx_abc', 'personal_api_key'],
    ['a\0b', 'null_byte'],
  ])('refuses %j as %s', (token, reason) => {
    const body = { api_key: token, event: 'x', distinct_id: 'u' };
    expect(refusal(() => parse(body))).toEqual({
      kind: 'authentication_failed',
      message: `API key is not valid: ${reason}`,
    });
  });

  it('prefers the key of the batch and does not compare the events with it', () => {
    const batch = [{ event: 'a', distinct_id: 'u', properties: { token: 'other' } }];
    expect(parse({ api_key: 't', batch }).token).toBe('t');
    expect(parse({ token: 't2', batch }).token).toBe('t2');
    expect(parse({ batch }).token).toBe('other');
  });

  it.each(['token', '$token', 'api_key'])('reads %s of an event before its properties', (field) => {
    const event = { event: 'a', distinct_id: 'u', properties: { token: 'inner' } };
    expect(parse([{ ...event, [field]: 'outer' }]).token).toBe('outer');
    expect(parse(event).token).toBe('inner');
  });
});
