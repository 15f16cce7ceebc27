import type { OpenAPIV3 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { jsonReply, textReply } from '../wire/replies.ts';
import type { WireReply } from '../wire/wire.ts';
import { readOperation } from './contract-document.ts';
import { createReplyCheck } from './reply-check.ts';

const SIZED = {
  type: 'object' as const,
  required: ['size'],
  properties: { size: { type: 'integer' as const } },
  'x-field-aliases': { length: 'size' },
};

const RESPONSES: OpenAPIV3.ResponsesObject = {
  '200': {
    description: 'A thing.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
  },
  '201': {
    description: 'A thing with more to it.',
    content: {
      'application/json': {
        schema: {
          allOf: [{ $ref: '#/components/schemas/Part' }, SIZED],
        },
      },
    },
  },
  '304': { description: 'Not changed.' },
  '400': {
    description: 'Text.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  },
  '404': { $ref: '#/components/responses/NotFound' },
};

const DEFINITION: OpenAPIV3.Document = {
  openapi: '3.0.3',
  info: { title: 'Things', version: '1' },
  paths: {
    '/thing': { get: { operationId: 'getFeatureFlag', responses: RESPONSES } },
  },
  components: {
    responses: {
      NotFound: {
        description: 'No such thing.',
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['detail'],
              properties: { detail: { type: 'string' } },
            },
          },
        },
      },
    },
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'parts'],
        properties: {
          id: { type: 'integer' },
          note: { type: 'string', nullable: true },
          made_at: { type: 'string', format: 'date-time' },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
          free: {
            type: 'object',
            additionalProperties: true,
            properties: { a: { type: 'string' } },
          },
        },
      },
      Part: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    },
  },
};

const { NotFound } = DEFINITION.components?.responses ?? {};
const OPERATION = readOperation(
  {
    path: '/thing',
    method: 'get',
    responses: { ...RESPONSES, ...(NotFound === undefined ? {} : { '404': NotFound }) },
  },
  'getFeatureFlag',
);

const RIGHT = { id: 1, note: null, made_at: '2026-01-20T09:30:00Z', parts: [{ name: 'a' }] };
const check = await createReplyCheck({ definition: DEFINITION });

function withoutBody(status: number): WireReply {
  return { status, headers: {}, body: null };
}

describe('a reply that keeps to the contract', () => {
  it.each([
    ['a right body', jsonReply(200, RIGHT)],
    ['a body without its optional fields', jsonReply(200, { id: 1, parts: [] })],
    [
      'an unknown field where the contract allows any',
      jsonReply(200, { ...RIGHT, free: { b: 1 } }),
    ],
    ['a body that is described in parts', jsonReply(201, { name: 'a', size: 1 })],
    ['a field under its other name too', jsonReply(201, { name: 'a', size: 1, length: 1 })],
    ['a status without a body', withoutBody(304)],
    ['text', textReply(400, 'anything')],
    ['a body whose response is shared', jsonReply(404, { detail: 'Not found.' })],
  ])('has no finding: %s', (_what, reply) => {
    expect(check(OPERATION, reply)).toBeNull();
  });
});

describe('a reply that breaks the contract', () => {
  it.each([
    [
      'a renamed field',
      jsonReply(200, { id: 1, pieces: [] }),
      /required property 'parts'|additional/,
    ],
    ['a wrong type', jsonReply(200, { ...RIGHT, id: '1' }), /body\/id must be integer/],
    ['an undocumented field', jsonReply(200, { ...RIGHT, secret: 1 }), /must NOT have additional/],
    [
      'an undocumented field further down',
      jsonReply(200, { ...RIGHT, parts: [{ name: 'a', secret: 1 }] }),
      /body\/parts\/0 must NOT have additional/,
    ],
    ['a wrong format', jsonReply(200, { ...RIGHT, made_at: 'today' }), /must match format/],
    ['null where it is not allowed', jsonReply(200, { ...RIGHT, id: null }), /body\/id/],
    [
      'an undocumented field of a shared response',
      jsonReply(404, { detail: '', x: 1 }),
      /additional/,
    ],
    ['a field that no part has', jsonReply(201, { name: 'a', size: 1, x: 1 }), /additional/],
    [
      'a wrong type under another name',
      jsonReply(201, { name: 'a', size: 1, length: '' }),
      /body\/length must be integer/,
    ],
    ['a field of one part missing', jsonReply(201, { name: 'a' }), /required property 'size'/],
    ['an undeclared status', jsonReply(418, {}), /the status 418 is not declared/],
    ['a wrong media type', textReply(200, 'x'), /text\/plain instead of application\/json/],
    ['a body where there must be none', jsonReply(304, {}), /must not have a body/],
  ])('is found: %s', (_what, reply, finding) => {
    expect(check(OPERATION, reply)).toMatch(finding);
  });

  it('is found although the same status was right before', () => {
    expect(check(OPERATION, jsonReply(200, RIGHT))).toBeNull();
    expect(check(OPERATION, jsonReply(200, {}))).not.toBeNull();
  });
});
