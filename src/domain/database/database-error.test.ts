import { describe, expect, it } from 'vitest';
import { notFound, Refusal, unavailable } from '../common/refusal.ts';
import { isDatabaseOutage, isOutage, isUniqueViolation, toRefusal } from './database-error.ts';

function errorWith(fields: object, message = 'Something happened.'): Error {
  return Object.assign(new Error(message), fields);
}

describe('isDatabaseOutage', () => {
  it.each([
    ['08006', 'the connection failed'],
    ['08P01', 'the protocol was violated'],
    ['53100', 'the disk is full'],
    ['53300', 'there are too many connections'],
    ['57P01', 'an administrator shuts down'],
    ['57P02', 'the server crashed'],
    ['57P03', 'the server is starting'],
    ['25P03', 'the transaction was idle for too long'],
    ['ECONNREFUSED', 'nobody listens'],
    ['ECONNRESET', 'the connection broke'],
    ['ENOTFOUND', 'the name is unknown'],
    ['EPIPE', 'the connection is gone'],
    ['ETIMEDOUT', 'nobody answers'],
    ['EHOSTUNREACH', 'there is no way'],
    ['EAI_AGAIN', 'the name server is away'],
  ])('takes the code %s for an outage: %s', (code) => {
    expect(isDatabaseOutage(errorWith({ code }))).toBe(true);
  });

  it('takes a socket that does not exist for an outage, but no other file', () => {
    expect(isDatabaseOutage(errorWith({ code: 'ENOENT', syscall: 'connect' }))).toBe(true);
    expect(isDatabaseOutage(errorWith({ code: 'ENOENT', syscall: 'open' }))).toBe(false);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Knex: Timeout acquiring a connection. The pool is probably full.',
    'Client has encountered a connection error and is not queryable',
  ])('takes the text "%s" for an outage', (message) => {
    expect(isDatabaseOutage(new Error(message))).toBe(true);
  });

  it('takes several failed addresses for an outage when one of them is', () => {
    const parts = [errorWith({ code: 'ECONNREFUSED' }), new Error('else')];
    expect(isDatabaseOutage(new AggregateError(parts))).toBe(true);
    expect(isDatabaseOutage(new AggregateError([new Error('else')]))).toBe(false);
  });

  it.each([
    ['a unique violation', errorWith({ code: '23505' })],
    ['a syntax error', errorWith({ code: '42601' })],
    ['a statement that was cancelled', errorWith({ code: '57014' })],
    ['a wrong password', errorWith({ code: '28P01' })],
    ['a fault of ours', new TypeError('x is not a function')],
    ['text', 'Connection terminated'],
    ['nothing', undefined],
  ])('does not take %s for an outage', (_what, error) => {
    expect(isDatabaseOutage(error)).toBe(false);
  });
});

describe('isOutage', () => {
  it('knows an outage as the database tells it and as the domain does', () => {
    expect(isOutage(errorWith({ code: '57P01' }))).toBe(true);
    expect(isOutage(unavailable('Later.', null))).toBe(true);
  });

  it.each([[notFound()], [errorWith({ code: '23505' })], [new Error('else')], ['text']])(
    'does not take %s for one',
    (error) => {
      expect(isOutage(error)).toBe(false);
    },
  );
});

describe('isUniqueViolation', () => {
  const violation = errorWith({ code: '23505', constraint: 'users_email_key' });

  it('knows which index was broken', () => {
    expect(isUniqueViolation(violation, 'users_email_key')).toBe(true);
    expect(isUniqueViolation(violation, 'projects_pkey')).toBe(false);
  });

  it('does not take another broken rule for it', () => {
    const other = errorWith({ code: '23503', constraint: 'users_email_key' });
    expect(isUniqueViolation(other, 'users_email_key')).toBe(false);
  });
});

describe('toRefusal', () => {
  it('tells an outage as unavailable and keeps its cause', () => {
    const cause = errorWith({ code: '57P01' });
    const error = toRefusal(cause);
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ kind: 'unavailable', cause });
  });

  it.each([[notFound()], [new Error('else')], ['text'], [undefined]])(
    'leaves %s as it is',
    (error) => {
      expect(toRefusal(error)).toBe(error);
    },
  );
});
