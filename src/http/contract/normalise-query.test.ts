import { describe, expect, it } from 'vitest';
import { readOperation } from './contract-document.ts';
import { normaliseQuery } from './normalise-query.ts';

const OPERATION = readOperation(
  {
    path: '/things',
    method: 'get',
    parameters: [
      { name: 'limit', in: 'query', schema: { type: 'integer' } },
      { name: 'send_cohorts', in: 'query', schema: { type: 'boolean' } },
    ],
    responses: {},
  },
  'getLocalEvaluation',
);

describe('normaliseQuery', () => {
  it('drops what the operation does not declare', () => {
    const query = { limit: '5', ip: '0', _: '1700000000', constructor: 'x' };
    expect(normaliseQuery(OPERATION, query)).toEqual({ limit: '5' });
  });

  it.each(['', 'true', 'TRUE', 't', 'yes', 'y', 'on', '1'])(
    'reads the boolean %j as true',
    (value) => {
      expect(normaliseQuery(OPERATION, { send_cohorts: value })).toEqual({ send_cohorts: 'true' });
    },
  );

  it.each(['false', 'False', 'f', 'no', 'n', 'off', '0'])(
    'reads the boolean %j as false',
    (value) => {
      expect(normaliseQuery(OPERATION, { send_cohorts: value })).toEqual({ send_cohorts: 'false' });
    },
  );

  it('leaves a boolean that it does not understand for the contract to refuse', () => {
    expect(normaliseQuery(OPERATION, { send_cohorts: 'maybe' })).toEqual({ send_cohorts: 'maybe' });
  });

  it('reads only booleans this way', () => {
    expect(normaliseQuery(OPERATION, { limit: '' })).toEqual({ limit: '' });
  });
});
