import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { baseUrlOf, parseQuery, requestIdOf, splitTarget } from './request-target.ts';

const UUID = '0192f0c1-7c40-7c7e-8f5a-2f6f1f0a9b3c';

function messageWith(headers: Record<string, string>): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  Object.assign(message.headers, headers);
  return message;
}

describe('requestIdOf', () => {
  it('keeps the id that a proxy gave', () => {
    expect(requestIdOf(messageWith({ 'x-request-id': UUID.toUpperCase() }))).toBe(UUID);
  });

  it.each(['', 'abc', `${UUID}"`, `${UUID}\n`])('draws a new id instead of %j', (given) => {
    const id = requestIdOf(messageWith({ 'x-request-id': given }));
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(id).not.toBe(UUID);
  });

  it('draws another id for each request', () => {
    expect(requestIdOf(messageWith({}))).not.toBe(requestIdOf(messageWith({})));
  });
});

describe('splitTarget', () => {
  it.each([
    ['/flags', '/flags', ''],
    ['/flags?v=2', '/flags', 'v=2'],
    ['/flags?a=?&b', '/flags', 'a=?&b'],
    ['/?', '/', ''],
  ])('splits %s', (target, path, search) => {
    expect(splitTarget(target)).toEqual({ path, search });
  });
});

describe('parseQuery', () => {
  it.each([
    ['', {}],
    ['v=2&send_cohorts', { v: '2', send_cohorts: '' }],
    ['name=a%20b+c', { name: 'a b c' }],
    ['v=1&v=2', { v: '2' }],
    ['name=%E0%A4', { name: '\uFFFD' }],
  ])('reads %j', (search, expected) => {
    expect(parseQuery(search)).toEqual(expected);
  });

  it('cannot be used to reach the prototype', () => {
    expect(Object.getPrototypeOf(parseQuery('__proto__=x&__proto__=y'))).toBe(Object.prototype);
  });
});

describe('baseUrlOf', () => {
  it('takes the host that the client addressed', () => {
    expect(baseUrlOf(messageWith({ host: 'flags.example.com:8000' }))).toBe(
      'http://flags.example.com:8000',
    );
  });

  it('hears from a proxy that the client came by https', () => {
    const headers = { host: 'flags.example.com', 'x-forwarded-proto': 'https' };
    expect(baseUrlOf(messageWith(headers))).toBe('https://flags.example.com');
  });

  it('does not take any other scheme from a header', () => {
    const headers = { host: 'flags.example.com', 'x-forwarded-proto': 'javascript' };
    expect(baseUrlOf(messageWith(headers))).toBe('http://flags.example.com');
  });
});
