import { describe, expect, it } from 'vitest';
import { readContract } from '../contract.ts';
import { pick } from '../read.ts';
import { spellOut } from './spell-out.ts';

describe('the contract, spelled out', () => {
  const contract = readContract();
  const before = JSON.stringify(contract);
  const spelled = spellOut(contract);
  const at = (...path: readonly (string | number)[]) => pick(spelled, 'paths', ...path);

  it('has the paths of aliases, with the parameters of the path that they stand for', () => {
    expect(at('/decide', 'post')).toEqual(at('/flags', 'post'));
    expect(at('/decide', 'get')).toEqual(at('/flags', 'get'));
    const groups = '/api/projects/{project_id}/groups_types/';
    expect(at(`${groups}update_metadata`, 'parameters')).toEqual(at(groups, 'parameters'));
  });

  it('has the scope that a personal API key needs', () => {
    const list = at('/api/projects/{project_id}/feature_flags/', 'get', 'security');
    expect(list).toEqual([{ personalApiKey: ['feature_flag:read'] }]);
    const config = '/api/projects/{project_id}/feature_flags/{id}/remote_config/';
    expect(at(config, 'get', 'security', 1)).toEqual({ projectSecretKey: [] });
  });

  it('has the other names of fields', () => {
    const fields = ['components', 'schemas', 'EvaluateFlagsRequest', 'properties'] as const;
    const named = pick(spelled, ...fields, '$distinct_id');
    expect(named).toBeDefined();
    expect(named).toEqual(pick(spelled, ...fields, 'distinct_id'));
  });

  it('leaves the contract as it was', () => {
    expect(JSON.stringify(contract)).toBe(before);
  });
});
