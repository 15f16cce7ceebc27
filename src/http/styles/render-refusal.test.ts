import { describe, expect, it } from 'vitest';
import {
  invalidField,
  Refusal,
  type RefusalKind,
  refusedAction,
  unavailable,
} from '../../domain/common/refusal.ts';
import type { ErrorStyle } from '../wire/error-style.ts';
import { renderRefusal } from './render-refusal.ts';

const STYLES: readonly ErrorStyle[] = ['management', 'definitions', 'evaluation', 'capture'];

const KINDS: readonly (readonly [RefusalKind, number, string, string])[] = [
  ['malformed', 400, 'invalid_request', 'parse_error'],
  ['invalid', 400, 'validation_error', 'invalid_input'],
  ['not_authenticated', 401, 'authentication_error', 'not_authenticated'],
  ['authentication_failed', 401, 'authentication_error', 'authentication_failed'],
  ['permission_denied', 403, 'authentication_error', 'permission_denied'],
  ['not_found', 404, 'invalid_request', 'not_found'],
  ['method_not_allowed', 405, 'invalid_request', 'method_not_allowed'],
  ['conflict', 409, 'server_error', 'conflict'],
  ['too_large', 413, 'invalid_request', 'request_too_large'],
  ['unsupported_media_type', 415, 'invalid_request', 'unsupported_media_type'],
  ['unprocessable', 422, 'invalid_request', 'unprocessable_entity'],
  ['unreadable', 500, 'server_error', 'error'],
  ['unavailable', 503, 'server_error', 'service_unavailable'],
];

/** Evaluation tells a bad key in the envelope; everything else is a line of text. */
const ENVELOPES_OF_EVALUATION = ['not_authenticated', 'authentication_failed'];

describe.each(KINDS)('an error of the kind %s', (kind, status, type, code) => {
  const error = new Refusal(kind, 'What went wrong.');

  it.each(['management', 'definitions'] as const)(
    'has its envelope in the style of %s',
    (style) => {
      const reply = renderRefusal(error, style);
      expect(reply.status).toBe(status);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(JSON.parse(String(reply.body))).toEqual({
        type,
        code,
        detail: 'What went wrong.',
        attr: null,
      });
    },
  );

  it.each(['evaluation', 'capture'] as const)('has its form in the style of %s', (style) => {
    const reply = renderRefusal(error, style);
    expect(reply.status).toBe(status);
    if (style === 'evaluation' && ENVELOPES_OF_EVALUATION.includes(kind)) {
      expect(JSON.parse(String(reply.body))).toMatchObject({ type, code, attr: null });
    } else {
      expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8');
      if (kind !== 'unavailable') expect(reply.body).toBe('What went wrong.');
    }
  });
});

describe('renderRefusal', () => {
  it('names the field and the code of a broken rule', () => {
    const reply = renderRefusal(invalidField('key', 'Taken.', 'unique'), 'management');
    expect(JSON.parse(String(reply.body))).toEqual({
      type: 'validation_error',
      code: 'unique',
      detail: 'Taken.',
      attr: 'key',
    });
  });

  it.each(STYLES)('says when to try again after an outage, in the style of %s', (style) => {
    const reply = renderRefusal(unavailable('Try again.', new Error('socket path')), style);
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toBe('1');
    expect(reply.body).not.toContain('socket path');
  });

  it.each([
    ['evaluation', /^Our database service is currently unavailable\./],
    ['capture', /^transient error, please retry$/],
  ] as const)('tells an outage in the words that SDKs of %s know', (style, text) => {
    expect(renderRefusal(unavailable('x', null), style).body).toMatch(text);
  });

  describe.each(STYLES)('in the style of %s', (style) => {
    it.each([
      ['an error', new Error('password "hunter2" at /src/secret.ts')],
      ['an error with a status of its own', Object.assign(new Error('hunter2'), { status: 418 })],
      ['text', 'hunter2'],
      ['nothing', undefined],
    ])('leaks nothing of %s that is not expected', (_what, thrown) => {
      const reply = renderRefusal(thrown, style);
      expect(reply.status).toBe(500);
      expect(JSON.stringify(reply)).not.toMatch(/hunter2|secret/);
    });
  });

  it.each([
    ['management', 'error', 'A server error occurred.'],
    ['definitions', 'unexpected_error', 'An unexpected error occurred'],
  ] as const)('tells a fault in the envelope that clients of %s know', (style, code, detail) => {
    const { body } = renderRefusal(new Error('x'), style);
    expect(JSON.parse(String(body))).toEqual({ type: 'server_error', code, detail, attr: null });
  });
});

describe('the form that some actions have', () => {
  const broken = { detail: 'Not so.', code: 'wrong', attr: 'key' };
  const envelope = { type: 'validation_error', ...broken };

  it.each([
    ['error', { error: 'Not so.', ...envelope }],
    ['success', { success: false, error: 'Not so.', ...envelope }],
  ] as const)('is %s beside the envelope', (form, body) => {
    const reply = renderRefusal(refusedAction(form, broken), 'management');
    expect(reply.status).toBe(400);
    expect(JSON.parse(String(reply.body))).toEqual(body);
  });
});

describe('the style of capture v1', () => {
  const render = (error: unknown) => {
    const { status, headers, body } = renderRefusal(error, 'capture_v1');
    return { status, headers, body: JSON.parse(String(body)) };
  };

  it('has a word for programs, a sentence for people, and what would have been taken', () => {
    const refusal = new Refusal('malformed', 'There is no body.', { code: 'empty_body' });
    expect(render(refusal)).toEqual({
      status: 400,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': expect.stringContaining('gzip'),
      },
      body: {
        error: 'empty_body',
        error_description: 'There is no body.',
        error_uri: expect.stringMatching(/^https:/),
      },
    });
  });

  it('says when to try again after an outage', () => {
    expect(render(unavailable('Try again.', new Error('socket path')))).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'service_unavailable', error_description: 'Try again.' },
    });
  });

  it('leaks nothing of a fault that is not expected', () => {
    expect(render(new Error('hunter2'))).toMatchObject({
      status: 500,
      body: { error: 'internal_error', error_description: 'A server error occurred.' },
    });
  });
});
