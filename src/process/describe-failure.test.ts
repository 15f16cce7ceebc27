import { describe, expect, it } from 'vitest';
import { ConfigError } from '../app/config.ts';
import { invalidField, Refusal } from '../domain/common/refusal.ts';
import { describeFailure } from './describe-failure.ts';

function systemError(message: string, fields: object): Error {
  return Object.assign(new Error(message), fields);
}

describe('describeFailure', () => {
  it.each([
    [
      'a bad configuration by its problems',
      new ConfigError(['PORT is bad.']),
      'The configuration cannot be used:\n  - PORT is bad.',
    ],
    [
      'a domain error by its detail',
      new Refusal('not_found', 'There is no user.'),
      'There is no user.',
    ],
    [
      'a bad field by its name and what is wrong with it',
      invalidField('email', 'Enter a valid email address.'),
      'email: Enter a valid email address.',
    ],
    [
      'a port that is taken, with what to do',
      systemError('listen EADDRINUSE: address already in use', { code: 'EADDRINUSE' }),
      'listen EADDRINUSE: address already in use. Another program uses this port; choose another one with PORT.',
    ],
    [
      'a port that needs root, with what to do',
      systemError('listen EACCES: permission denied 0.0.0.0:80', { code: 'EACCES' }),
      'listen EACCES: permission denied 0.0.0.0:80. Choose a port from 1024 on with PORT.',
    ],
    [
      'a database that does not answer',
      systemError('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' }),
      'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:5432',
    ],
    [
      'a database that no address of its name answers for',
      new AggregateError([
        systemError('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED' }),
        systemError('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' }),
      ]),
      'The database cannot be reached: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432',
    ],
    [
      'a wrong password',
      systemError('password authentication failed for user "me"', { code: '28P01' }),
      'The database refuses the connection: password authentication failed for user "me"',
    ],
    [
      'a database that does not exist',
      systemError('database "flags" does not exist', { code: '3D000' }),
      'The database refuses the connection: database "flags" does not exist',
    ],
    ['what is no error as text', 'out of luck', 'out of luck'],
  ])('tells %s', (_what, error, text) => {
    expect(describeFailure(error)).toBe(text);
  });

  it('tells an unexpected error with its stack, for a report', () => {
    const error = new TypeError('x is not a function');
    expect(describeFailure(error)).toBe(error.stack);
  });

  it('does not blame the database for a file that is missing', () => {
    const error = systemError("ENOENT: no such file or directory, open 'openapi.yaml'", {
      code: 'ENOENT',
      syscall: 'open',
    });
    expect(describeFailure(error)).not.toContain('database');
  });
});
