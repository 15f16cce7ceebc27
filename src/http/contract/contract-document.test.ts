import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../domain/common/access.ts';
import {
  type ExtendedOperation,
  readContract,
  readOperation,
  withoutSlash,
} from './contract-document.ts';

const LIST: ExtendedOperation = {
  path: '/api/things/',
  method: 'get',
  operationId: 'listFeatureFlags',
  tags: ['feature_flags'],
  'x-alias-paths': ['/things', '/old/things/'],
  'x-required-scope': 'feature_flag:read',
  security: [{ personalApiKey: [] }],
  parameters: [
    { name: 'limit', in: 'query', schema: { type: 'integer' } },
    { name: 'active', in: 'query', schema: { type: 'boolean' } },
    { name: 'X-Header', in: 'header', schema: { type: 'boolean' } },
  ],
  responses: {
    '200': { description: '', content: { 'application/json': {} } },
    '304': { description: '' },
  },
};

describe('readOperation', () => {
  it('reads what the shell has to know', () => {
    expect(readOperation(LIST, 'listFeatureFlags')).toMatchObject({
      id: 'listFeatureFlags',
      method: 'GET',
      paths: ['/api/things', '/things', '/old/things'],
      errorStyle: 'management',
      securitySchemes: new Set(['personalApiKey']),
      runsInProject: false,
      requiredScope: 'feature_flag:read',
      hasBody: false,
      queryNames: new Set(['limit', 'active']),
      booleanQueryNames: new Set(['active']),
      mediaTypes: new Map([
        [200, 'application/json'],
        [304, null],
      ]),
    });
  });

  it('reads an operation that is open to everybody', () => {
    const { security: _security, 'x-required-scope': _scope, ...open } = LIST;
    expect(readOperation({ ...open, security: [] }, 'evaluateFlags')).toMatchObject({
      securitySchemes: new Set(),
      requiredScope: null,
    });
  });

  it.each<[string, Partial<ExtendedOperation>]>([
    ['a path that names one', { path: '/api/projects/{project_id}/things/' }],
    [
      'a project API key in its query',
      { parameters: [{ name: 'token', in: 'query', schema: { type: 'string' } }] },
    ],
  ])('sees that it runs in a project by %s', (_what, change) => {
    expect(readOperation({ ...LIST, ...change }, 'listFeatureFlags').runsInProject).toBe(true);
  });

  it('sees that there is a body', () => {
    const operation = { ...LIST, method: 'post', requestBody: { content: {} } };
    expect(readOperation(operation, 'createFeatureFlag').hasBody).toBe(true);
  });

  it.each([
    ['feature_flags', 'management'],
    ['definitions', 'definitions'],
    ['evaluation', 'evaluation'],
    ['capture', 'capture'],
  ])('gives the tag %s the error style %s', (tag, style) => {
    expect(readOperation({ ...LIST, tags: [tag] }, 'listFeatureFlags').errorStyle).toBe(style);
  });
});

describe('withoutSlash', () => {
  it.each([
    ['/flags/', '/flags'],
    ['/flags', '/flags'],
    ['/', '/'],
  ])('makes %s %s', (path, expected) => {
    expect(withoutSlash(path)).toBe(expected);
  });
});

describe('readContract', () => {
  it('has the closed list of scopes in its document', () => {
    const { components } = readContract().definition;
    expect(components?.schemas?.Scope).toHaveProperty('enum', [...SCOPES]);
  });

  it('reads the document of the installation in all its forms', () => {
    const { yaml, json, definition } = readContract();
    expect(yaml).toMatch(/^openapi: 3\.0\.3/);
    expect(JSON.parse(json)).toEqual(definition);
    expect(definition.paths).toHaveProperty(['/flags']);
  });
});
