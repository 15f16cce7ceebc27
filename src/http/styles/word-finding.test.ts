import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { pickFinding } from '../contract/pick-finding.ts';
import { wordFinding } from './word-finding.ts';

const ajv = new Ajv({ strict: false, verbose: true, allErrors: true });
addFormats.default(ajv);

/** What Ajv finds in a body against the schema of one field. */
function findingsIn(schema: object, body: unknown): ErrorObject[] {
  const validate = ajv.compile({
    type: 'object',
    properties: { requestBody: { type: 'object', properties: { field: schema } } },
  });
  validate({ requestBody: body });
  return validate.errors ?? [];
}

function tell(finding: ErrorObject | undefined) {
  if (finding === undefined) throw new Error('The body fits.');
  const { kind, code, detail, attr } = wordFinding(finding);
  return { kind, code, detail, attr };
}

describe('wordFinding', () => {
  it.each([
    ['blank', { type: 'string', minLength: 1 }, '', 'This field may not be blank.'],
    [
      'min_length',
      { type: 'string', minLength: 3 },
      'ab',
      'Ensure this field has at least 3 characters.',
    ],
    [
      'max_length',
      { type: 'string', maxLength: 400 },
      'x'.repeat(401),
      'Ensure this field has no more than 400 characters.',
    ],
    [
      'max_length',
      { type: 'array', maxItems: 1 },
      [1, 2],
      'Ensure this field has no more than 1 elements.',
    ],
    [
      'min_value',
      { type: 'integer', minimum: 1 },
      0,
      'Ensure this value is greater than or equal to 1.',
    ],
    [
      'max_value',
      { type: 'integer', maximum: 5 },
      6,
      'Ensure this value is less than or equal to 5.',
    ],
    ['invalid_choice', { type: 'string', enum: ['all'] }, 'both', '"both" is not a valid choice.'],
    ['invalid_choice', { enum: ['all'] }, 7, '"7" is not a valid choice.'],
    ['not_a_list', { type: 'array' }, 'x', 'Expected a list of items but got type "str".'],
    ['not_a_list', { type: 'array' }, {}, 'Expected a list of items but got type "dict".'],
    ['not_a_list', { type: 'array' }, 1, 'Expected a list of items but got type "int".'],
    ['not_a_dict', { type: 'object' }, [], 'Expected a dictionary of items but got type "list".'],
    ['not_a_dict', { type: 'object' }, 1.5, 'Expected a dictionary of items but got type "float".'],
    ['not_a_dict', { type: 'object' }, true, 'Expected a dictionary of items but got type "bool".'],
    ['null', { type: 'object' }, null, 'This field may not be null.'],
    ['invalid_input', { type: 'boolean' }, 'maybe', 'Must be a valid boolean.'],
    ['invalid_input', { type: 'boolean', nullable: true }, 1, 'Must be a valid boolean.'],
    ['invalid_input', { type: 'integer' }, 'x', 'A valid integer is required.'],
    ['invalid_input', { type: 'number' }, 'x', 'A valid number is required.'],
    ['invalid_input', { type: 'string' }, 5, 'Not a valid string.'],
    ['invalid_input', { type: 'string', format: 'uuid' }, 'x', 'Not a valid uuid.'],
    [
      'invalid_input',
      { type: 'string', format: 'date-time' },
      'yesterday',
      'Datetime has wrong format. Use one of these formats instead: ' +
        'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
    ],
    [
      'invalid_input',
      { type: 'string', pattern: '^a$' },
      'b',
      'This value does not match the required pattern.',
    ],
  ])('tells %s for the schema %j and the value %j', (code, schema, value, detail) => {
    const [finding] = findingsIn(schema, { field: value });
    expect(tell(finding)).toEqual({ kind: 'invalid', code, detail, attr: 'field' });
  });

  it('names the characters that a key may have', () => {
    const validate = ajv.compile({
      properties: { requestBody: { properties: { key: { type: 'string', pattern: '^[a-z]+$' } } } },
    });
    validate({ requestBody: { key: 'a b' } });
    expect(tell(validate.errors?.[0])).toMatchObject({
      code: 'invalid_key',
      detail: 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
      attr: 'key',
    });
  });

  it('joins the path of a nested field, list positions included', () => {
    const schema = { type: 'array', items: { properties: { 'a/b': { type: 'string' } } } };
    const [finding] = findingsIn(schema, { field: [{}, { 'a/b': 1 }] });
    expect(tell(finding).attr).toBe('field__1__a/b');
  });

  it('names the field that is missing', () => {
    const [finding] = findingsIn({ type: 'object', required: ['key'] }, { field: {} });
    expect(tell(finding)).toMatchObject({
      code: 'required',
      detail: 'This field is required.',
      attr: 'field__key',
    });
  });

  it('names no field when the body itself is missing or of the wrong type', () => {
    const validate = ajv.compile({
      required: ['requestBody'],
      properties: { requestBody: { type: 'object' } },
    });
    validate({});
    expect(tell(validate.errors?.[0])).toMatchObject({ code: 'required', attr: null });
    validate({ requestBody: [] });
    expect(tell(validate.errors?.[0])).toMatchObject({ code: 'not_a_dict', attr: null });
  });

  it('takes a path parameter that does not fit for a thing that does not exist', () => {
    const validate = ajv.compile({
      properties: { path: { properties: { id: { type: 'integer' } } } },
    });
    validate({ path: { id: 'abc' } });
    expect(tell(validate.errors?.[0])).toEqual({
      kind: 'not_found',
      code: 'not_found',
      detail: 'Not found.',
      attr: null,
    });
  });
});

describe('pickFinding', () => {
  it('prefers the most specific finding', () => {
    const schema = {
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
    };
    const picked = pickFinding(findingsIn(schema, { field: ['a', 1] }));
    expect(tell(picked).attr).toBe('field__1');
  });

  it('prefers the first of equally specific ones', () => {
    const findings = findingsIn({ type: 'string', minLength: 3, pattern: '^a' }, { field: 'b' });
    expect(findings).toHaveLength(2);
    expect(pickFinding(findings)).toBe(findings[0]);
  });

  it('has nothing to pick when there is no finding', () => {
    expect(pickFinding([])).toBeUndefined();
  });
});
