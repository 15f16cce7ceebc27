import type { OpenAPIV3 } from 'openapi-types';
import type { ContractDocument } from '../src/http/contract/contract-document.ts';
import { WIDE_BOUNDS } from './http-pipelines.ts';

const OK: OpenAPIV3.ResponsesObject = {
  '200': { description: 'Fine.', content: { 'application/json': { schema: {} } } },
};
const ID: OpenAPIV3.ParameterObject = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'integer', minimum: 1, maximum: 2147483647 },
};

/** Two operations on a thing, and one that two kinds of key may call. */
const PATHS: object = {
  '/api/projects/{project_id}/things/{id}/': {
    parameters: [
      { name: 'project_id', in: 'path', required: true, schema: { type: 'string' } },
      ID,
    ],
    get: {
      operationId: 'getFeatureFlag',
      'x-required-scope': 'feature_flag:read',
      security: [{ personalApiKey: [] }],
      parameters: [
        { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 0 } },
        { name: 'active', in: 'query', schema: { type: 'boolean' } },
      ],
      responses: OK,
    },
    patch: {
      operationId: 'updateFeatureFlag',
      'x-required-scope': 'feature_flag:write',
      security: [{ personalApiKey: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: { name: { type: 'string', default: 'no name' } },
            },
          },
        },
      },
      responses: OK,
    },
  },
  '/definitions': {
    get: {
      operationId: 'getFlagDefinitions',
      'x-required-scope': 'feature_flag:read',
      security: [{ personalApiKey: [] }, { projectSecretKey: [] }],
      responses: OK,
    },
  },
};

const COMPONENTS: OpenAPIV3.ComponentsObject = {
  securitySchemes: {
    personalApiKey: { type: 'http', scheme: 'bearer' },
    projectSecretKey: { type: 'http', scheme: 'bearer' },
  },
};

/** A contract with these paths and wide bounds of bodies. */
export function documentOf(paths: object): ContractDocument {
  const definition: OpenAPIV3.Document = {
    ...WIDE_BOUNDS,
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths: { ...paths },
    components: COMPONENTS,
  };
  return { yaml: '', json: '', definition };
}

/** A small contract that asks for everything that a contract can ask for. */
export const THINGS: ContractDocument = documentOf(PATHS);

/** Where a thing is. */
export const A_THING = {
  path: '/api/projects/1/things/7/',
  params: { project_id: '1', id: '7' },
} as const;
