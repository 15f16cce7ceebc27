import type { ErrorObject } from 'ajv';
import { invalidField, notFound, type Refusal } from '../../domain/common/refusal.ts';

/**
 * A finding of the contract's validators as the management API words it: the documented code, detail
 * and attr. A path parameter that does not fit names nothing that exists, so it is 404.
 */
export function wordFinding(finding: ErrorObject): Refusal {
  const [place, ...steps] = finding.instancePath.split('/').slice(1).map(unescapePointer);
  if (place === 'path') return notFound();
  const attr = [...steps, ...missingProperty(finding)].join('__');
  const { code, detail } = describe(finding);
  return invalidField(attr === '' || attr === 'requestBody' ? null : attr, detail, code);
}

function missingProperty(finding: ErrorObject): string[] {
  if (finding.keyword !== 'required') return [];
  const name: unknown = finding.params.missingProperty;
  return typeof name === 'string' ? [name] : [];
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

interface Wording {
  readonly code: string;
  readonly detail: string;
}

function describe(finding: ErrorObject): Wording {
  const limit: unknown = finding.params.limit;
  switch (finding.keyword) {
    case 'required':
      return { code: 'required', detail: 'This field is required.' };
    case 'type':
      return describeType(String(finding.params.type), finding.data);
    case 'minLength':
      if (limit === 1) return { code: 'blank', detail: 'This field may not be blank.' };
      return {
        code: 'min_length',
        detail: `Ensure this field has at least ${limit} characters.`,
      };
    case 'maxLength':
      return {
        code: 'max_length',
        detail: `Ensure this field has no more than ${limit} characters.`,
      };
    case 'maxItems':
      return {
        code: 'max_length',
        detail: `Ensure this field has no more than ${limit} elements.`,
      };
    case 'minimum':
      return {
        code: 'min_value',
        detail: `Ensure this value is greater than or equal to ${limit}.`,
      };
    case 'maximum':
      return { code: 'max_value', detail: `Ensure this value is less than or equal to ${limit}.` };
    case 'enum':
      return { code: 'invalid_choice', detail: `${quote(finding.data)} is not a valid choice.` };
    case 'pattern':
      return describePattern(finding);
    case 'format':
      return describeFormat(String(finding.params.format));
    default:
      return { code: 'invalid_input', detail: finding.message ?? 'Not a valid value.' };
  }
}

function describeType(expected: string, value: unknown): Wording {
  if (value === null) return { code: 'null', detail: 'This field may not be null.' };
  switch (expected.split(',')[0]) {
    case 'array':
      return {
        code: 'not_a_list',
        detail: `Expected a list of items but got type "${nameType(value)}".`,
      };
    case 'object':
      return {
        code: 'not_a_dict',
        detail: `Expected a dictionary of items but got type "${nameType(value)}".`,
      };
    case 'boolean':
      return { code: 'invalid_input', detail: 'Must be a valid boolean.' };
    case 'integer':
      return { code: 'invalid_input', detail: 'A valid integer is required.' };
    case 'number':
      return { code: 'invalid_input', detail: 'A valid number is required.' };
    default:
      return { code: 'invalid_input', detail: 'Not a valid string.' };
  }
}

/** Only `key` has a pattern among the fields that a client writes. */
function describePattern(finding: ErrorObject): Wording {
  if (finding.instancePath.endsWith('/key')) {
    return {
      code: 'invalid_key',
      detail: 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.',
    };
  }
  return { code: 'invalid_input', detail: 'This value does not match the required pattern.' };
}

function describeFormat(format: string): Wording {
  if (format !== 'date-time') return { code: 'invalid_input', detail: `Not a valid ${format}.` };
  return {
    code: 'invalid_input',
    detail:
      'Datetime has wrong format. Use one of these formats instead: ' +
      'YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].',
  };
}

/** The names that clients know, which are Python's. */
function nameType(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      return 'dict';
  }
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : `"${JSON.stringify(value)}"`;
}
