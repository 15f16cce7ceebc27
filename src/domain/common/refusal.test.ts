import { describe, expect, it } from 'vitest';
import { invalidField, notFound, Refusal, unavailable, unreadable } from './refusal.ts';

describe('Refusal', () => {
  it.each([
    ['malformed', 'parse_error'],
    ['invalid', 'invalid_input'],
    ['not_authenticated', 'not_authenticated'],
    ['authentication_failed', 'authentication_failed'],
    ['permission_denied', 'permission_denied'],
    ['not_found', 'not_found'],
    ['method_not_allowed', 'method_not_allowed'],
    ['conflict', 'conflict'],
    ['too_large', 'request_too_large'],
    ['unsupported_media_type', 'unsupported_media_type'],
    ['unprocessable', 'unprocessable_entity'],
    ['unreadable', 'error'],
    ['unavailable', 'service_unavailable'],
  ] as const)('of the kind %s has the code %s unless one is given', (kind, code) => {
    expect(new Refusal(kind, 'Why.')).toMatchObject({ code, detail: 'Why.', attr: null });
    expect(new Refusal(kind, 'Why.', { code: 'own', attr: 'field' })).toMatchObject({
      code: 'own',
      attr: 'field',
    });
  });

  it('is an error with its detail as the message', () => {
    const error = new Refusal('conflict', 'Somebody was faster.');
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe('Somebody was faster.');
    expect('cause' in error).toBe(false);
  });
});

describe('the short forms', () => {
  it('name the field that breaks a rule', () => {
    expect(invalidField('key', 'Taken.', 'unique')).toMatchObject({
      kind: 'invalid',
      attr: 'key',
      code: 'unique',
    });
    expect(invalidField(null, 'Bad.')).toMatchObject({ attr: null, code: 'invalid_input' });
  });

  it('say that there is no such thing', () => {
    expect(notFound()).toMatchObject({ kind: 'not_found', detail: 'Not found.' });
    expect(notFound('No such project.').detail).toBe('No such project.');
  });

  it('keep the cause of what cannot be read, and its own code', () => {
    const cause = new Error('no key');
    expect(unreadable('Ask the operator.', 'lost', cause)).toMatchObject({
      kind: 'unreadable',
      code: 'lost',
      cause,
    });
  });

  it('keep the cause of an outage', () => {
    const cause = new Error('ECONNREFUSED');
    expect(unavailable('Try again.', cause)).toMatchObject({ kind: 'unavailable', cause });
  });
});
