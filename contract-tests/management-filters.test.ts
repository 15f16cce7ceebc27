import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const FLAGS = '/api/projects/1/feature_flags/';

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function fault(code: string, detail: string) {
  return { type: 'validation_error', code, detail, attr: 'filters' };
}

const NO_CONDITION = 'Feature flags must have at least one condition set (group).';
const PERSON_ONLY = 'Filters are not valid (can only use person, cohort, and flag properties)';
const GROUP_ONLY = 'Filters are not valid (can only use group properties)';

function condition(...properties: object[]): object {
  return { groups: [{ properties, rollout_percentage: 100 }] };
}

function variants(...percentages: unknown[]): object {
  const all = percentages.map((rollout_percentage, index) => ({
    key: `v${index}`,
    rollout_percentage,
  }));
  return { groups: [{}], multivariate: { variants: all } };
}

function value(operator: string, given: unknown): object {
  return condition({ key: 'k', type: 'person', operator, value: given });
}

const AT = 'groups[0]';
const FIRST = 'groups[0].properties[0]';

describe('filters', () => {
  it.each<[object, string, string]>([
    [{}, 'invalid_input', NO_CONDITION],
    [{ groups: [] }, 'invalid_input', NO_CONDITION],
    [{ groups: {} }, 'invalid_input', 'groups must be a list, got dict'],
    [{ groups: ['x'] }, 'invalid_input', `${AT} must be a dictionary, got str`],
    [
      { groups: [{ rollout_percentage: '5' }] },
      'invalid_input',
      `${AT}.rollout_percentage must be a number or null, got str`,
    ],
    [
      { groups: [{ rollout_percentage: 120 }] },
      'invalid_input',
      `${AT}.rollout_percentage must be between 0 and 100, got 120`,
    ],
    [
      { groups: [{ rollout_percentage: -1 }] },
      'invalid_input',
      `${AT}.rollout_percentage must be between 0 and 100, got -1`,
    ],
    [
      { groups: [{ rollout_percentage: true }] },
      'invalid_input',
      `${AT}.rollout_percentage must be a number or null, got bool`,
    ],
    [
      { groups: [{ variant: 5 }] },
      'invalid_input',
      `${AT}.variant must be a string or null, got int`,
    ],
    [
      { groups: [{ properties: {} }] },
      'invalid_input',
      `${AT}.properties must be a list, got dict`,
    ],
    [
      { groups: [{}], aggregation_group_type_index: 'x' },
      'invalid_input',
      'aggregation_group_type_index must be an integer or null, got str',
    ],
    [
      { groups: [{}], early_exit: 'x' },
      'invalid_input',
      'early_exit must be a boolean or null, got str',
    ],
    [
      { groups: [{}], holdout: [] },
      'invalid_input',
      'holdout must be a dictionary or null, got list',
    ],
    [{ groups: [{}], holdout: { id: 'x' } }, 'invalid_input', 'holdout.id must be an integer'],
    [
      { groups: [{}], holdout: { id: 1 } },
      'invalid_input',
      'holdout.exclusion_percentage must be a number',
    ],
    [
      { groups: [{}], multivariate: [] },
      'invalid_input',
      'multivariate must be a dictionary or null, got list',
    ],
    [
      { groups: [{}], multivariate: { variants: {} } },
      'invalid_input',
      'multivariate.variants must be a list',
    ],
    [
      { groups: [{}], multivariate: { variants: [{ key: 5, rollout_percentage: 100 }] } },
      'invalid_input',
      'multivariate.variants[0].key must be a string',
    ],
    [
      variants(null),
      'invalid_input',
      'multivariate.variants[0].rollout_percentage must be a number, got null',
    ],
    [condition({}), 'invalid_input', `${FIRST}.key: a property key is required`],
    [
      condition({ key: 'k', type: 'event' }),
      'invalid_input',
      `${FIRST}.type: invalid property type`,
    ],
    [
      condition({ key: 'k', value: 'x', negation: 'x' }),
      'invalid_input',
      `${FIRST}.negation must be a boolean or null`,
    ],
    [condition({ key: 'k', type: 'group', value: 'x' }), 'invalid_input', PERSON_ONLY],
    [
      { ...condition({ key: 'k', type: 'person', value: 'x' }), aggregation_group_type_index: 0 },
      'invalid_input',
      GROUP_ONLY,
    ],
    [
      {
        ...condition({ key: 'k', type: 'group', group_type_index: 1, value: 'x' }),
        aggregation_group_type_index: 0,
      },
      'invalid_input',
      GROUP_ONLY,
    ],
    [
      condition({ key: '1', type: 'flag', operator: 'exact', value: true }),
      'invalid_input',
      "Flag properties must use the 'flag_evaluates_to' operator",
    ],
    ...[variants(50, 40), variants(50, 51), variants(0)].map((each): [object, string, string] => [
      each,
      'invalid_input',
      'Invalid variant definitions: Variant rollout percentages must sum to 100.',
    ]),
    [
      {
        groups: [{}],
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'a', rollout_percentage: 50 },
          ],
        },
      },
      'cross_field.variant_keys_not_unique',
      'multivariate.variants: Variant keys must be unique, duplicated: a.',
    ],
    [
      { groups: [{}], multivariate: { variants: [{ key: 'a b', rollout_percentage: 100 }] } },
      'structural.multivariate.variants[].key.invalid',
      'multivariate.variants[0].key: Only letters, numbers, hyphens (-), underscores (_), dots (.) & slashes (/) are allowed.',
    ],
    [
      { ...variants(100), groups: [{ variant: 'nobody' }] },
      'invalid_input',
      'Filters are not valid (variant override does not exist)',
    ],
    [{ groups: [{}], payloads: [] }, 'invalid_input', 'Payloads must be passed as a dictionary'],
    ...['{"a":', 'NaN'].map((text): [object, string, string] => [
      { groups: [{}], payloads: { true: text } },
      'invalid_input',
      'Payload value is not valid JSON',
    ]),
    [
      { ...variants(100), payloads: { other: '1' } },
      'invalid_input',
      'Payload keys must match a variant key for multivariate flags',
    ],
    [
      { groups: [{}], payloads: { control: '1' } },
      'invalid_input',
      "Payload keys must be 'true' for boolean flags",
    ],
    [value('icontains', null), 'invalid_value', 'Invalid value for operator icontains: None'],
    [value('regex', { a: true }), 'invalid_value', "Invalid value for operator regex: {'a': True}"],
    ...['icontains_multi', 'not_icontains_multi'].map((operator): [object, string, string] => [
      value(operator, 'x'),
      'cross_field.operator_requires_list_value',
      `groups[0].properties[0].value: Operator ${operator} requires a list of values.`,
    ]),
    [value('is_date_before', 'xyz'), 'invalid_date', 'Invalid date value: xyz'],
    [
      value('semver_gt', 'x'),
      'cross_field.semver_value_invalid',
      'groups[0].properties[0].value: Invalid semver value for operator semver_gt: x.',
    ],
    [
      value('semver_gt', 5),
      'cross_field.semver_value_invalid',
      'groups[0].properties[0].value: Invalid value for operator semver_gt: expected a semver string.',
    ],
    [value('foo', 'x'), 'invalid_operator', 'Invalid operator: foo'],
    [
      value('exact', Array.from({ length: 1_001 }, String)),
      'invalid_input',
      'Property group expressions of type k cannot contain more than 1000 values.',
    ],
    [value('is_date_exact', 'xyz'), 'invalid_date', 'Invalid date value: xyz'],
    [value('is_date_after', 5), 'invalid_date', 'Invalid date value: 5'],
    ...['regex', 'not_regex', 'icontains', 'not_icontains', 'gt', 'gte', 'lt', 'lte'].map(
      (operator): [object, string, string] => [
        value(operator, ['x']),
        'invalid_value',
        `Invalid value for operator ${operator}: ['x']`,
      ],
    ),
    ...['in', 'not_in'].map((operator): [object, string, string] => [
      value(operator, [1]),
      'invalid_operator',
      `The '${operator}' operator is only valid for cohort properties, not 'person' properties.`,
    ]),
    [value('regex', '['), 'invalid_input', `${FIRST}.value: invalid regex pattern`],
    [value('regex', '(?=x)'), 'invalid_input', `${FIRST}.value: invalid regex pattern`],
    [value('not_regex', '(a)\\1'), 'invalid_input', `${FIRST}.value: invalid regex pattern`],
  ])('are refused: %j', async (filters, code, detail) => {
    const reply = await burgee.api('POST', FLAGS, { body: { key: 'never-created', filters } });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body).toEqual(fault(code, detail));
  });

  it.each<[object]>([
    [{ groups: [{}] }],
    [{ groups: [{ properties: null, rollout_percentage: null, variant: null }] }],
    [{ groups: [{ rollout_percentage: 0.5, description: 'x', sort_key: 'y' }] }],
    [variants(33.3, 33.3, 33.4)],
    [{ groups: [{}], multivariate: { variants: [] } }],
    [{ ...variants(100), payloads: { v0: '"text"' } }],
    [value('gt', 5)],
    [value('icontains', 'x')],
    [value('is_set', 'is_set')],
    [value('is_date_after', '-7d')],
    [value('semver_wildcard', '1.2.*')],
    [value('exact', ['a', 'b'])],
    [value('exact', Array.from({ length: 1_000 }, String))],
    [condition({ key: 'k', value: 'x' })],
    [condition({ key: 'k', operator: null, value: 'x', label: 'L', group_key_names: {} })],
  ])('are taken: %j', async (filters) => {
    const flag = await burgee.createFlag({ filters });
    expect(pick(flag.body, 'filters')).toEqual(filters);
  });

  it('are told with older names of operators replaced and payloads as JSON text', async () => {
    const flag = await burgee.createFlag({
      filters: { ...value('min', '5'), payloads: { true: { a: [1] } }, super_groups: [{}] },
    });
    expect(pick(flag.body, 'filters')).toEqual({
      ...value('gte', '5'),
      payloads: { true: '{"a":[1]}' },
    });
  });

  it('are checked again as a whole after a PATCH has been merged into them', async () => {
    const flag = await burgee.createFlag({
      filters: { ...variants(100), payloads: { v0: '1' } },
    });
    const reply = await burgee.api('PATCH', flag.path, {
      body: { filters: { multivariate: null } },
    });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      fault('invalid_input', "Payload keys must be 'true' for boolean flags"),
    );
  });

  it('have a size limit', async () => {
    const filters = { groups: [{ description: 'x'.repeat(524_288) }] };
    const reply = await burgee.api('POST', FLAGS, { body: { key: 'large', filters } });
    expect(reply.status).toBe(400);
    expect(pick(reply.body, 'detail')).toMatch(/^Feature flag filters exceed maximum size of /);
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
