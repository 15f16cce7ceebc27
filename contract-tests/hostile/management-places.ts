import { type Place, wrap } from './places.ts';

const MIB = 1024 * 1024;
const PROJECT = '/api/projects/1';

const management = {
  method: 'POST',
  packing: 'plain',
  rawMaxBytes: 4 * MIB - 256,
  inflatedMaxBytes: 4 * MIB - 256,
  headers: (key: string | null) => ({
    'content-type': 'application/json',
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  }),
  // There may be no such flag any more, and a key may lack what an operation takes.
  extraStatuses: [403, 404, 405, 409, 415, 422],
} as const;

const between =
  (before: string, after: string): Place['frame'] =>
  (value) =>
    wrap(before, value, after);

/** The ids of the flag and the static cohort that a service under attack has. */
export interface Subjects {
  readonly flagId: number;
  readonly cohortId: number;
}

function place(
  name: string,
  path: string,
  takes: Place['takes'],
  frame: Place['frame'],
  method = 'POST',
): Place {
  return { ...management, name: `${method} ${name}`, path, takes, frame, method };
}

/** Writes of the management interface, bulk operations among them. */
export function managementPlaces(subjects: Subjects): readonly Place[] {
  return [...flagPlaces(subjects), ...cohortPlaces(subjects), ...accountPlaces()];
}

function flagPlaces({ flagId }: Subjects): readonly Place[] {
  const flags = `${PROJECT}/feature_flags/`;
  const flag = `${flags}${flagId}/`;
  const groups = '{"key":"hostile","filters":{"groups":';
  return [
    place('feature_flags/', flags, ['list', 'object', 'text', 'damaged'], (value) => value),
    place('feature_flags/ groups', flags, ['list'], between(groups, '}}')),
    place(
      'feature_flags/ values',
      flags,
      ['list', 'text'],
      between(`${groups}[{"properties":[{"key":"a","operator":"exact","value":`, '}]}]}}'),
    ),
    place(
      'feature_flags/ unknown field',
      flags,
      ['list', 'object'],
      between('{"key":"hostile","unknown":', '}'),
    ),
    place('feature_flags/{id}/', flag, ['object'], between('{"filters":', '}'), 'PATCH'),
    place('feature_flags/{id}/ tags', flag, ['list'], between('{"tags":', '}'), 'PATCH'),
    place('feature_flags/bulk_delete/', `${flags}bulk_delete/`, ['list'], between('{"ids":', '}')),
    place(
      'feature_flags/bulk_delete/ filters',
      `${flags}bulk_delete/`,
      ['object'],
      between('{"filters":', '}'),
    ),
    place(
      'feature_flags/bulk_update_tags/',
      `${flags}bulk_update_tags/`,
      ['list'],
      between(`{"ids":[${flagId}],"action":"add","tags":`, '}'),
    ),
    place('feature_flags/bulk_keys/', `${flags}bulk_keys/`, ['list'], between('{"ids":', '}')),
    place(
      'feature_flags/user_blast_radius/',
      `${flags}user_blast_radius/`,
      ['list', 'object'],
      between('{"condition":{"properties":', '}}'),
    ),
  ];
}

function cohortPlaces({ cohortId }: Subjects): readonly Place[] {
  const cohorts = `${PROJECT}/cohorts/`;
  const cohort = `${cohorts}${cohortId}/`;
  return [
    place(
      'cohorts/',
      cohorts,
      ['list', 'object'],
      between('{"name":"hostile","filters":{"properties":{"type":"AND","values":', '}}}'),
    ),
    place('cohorts/ groups', cohorts, ['list'], between('{"name":"hostile","groups":', '}')),
    place('cohorts/{id}/', cohort, ['object'], between('{"filters":', '}'), 'PATCH'),
    place(
      'add_persons_to_static_cohort/',
      `${cohort}add_persons_to_static_cohort/`,
      ['list'],
      between('{"person_ids":', '}'),
      'PATCH',
    ),
  ];
}

function accountPlaces(): readonly Place[] {
  return [
    place('projects/', '/api/projects/', ['object', 'text'], between('{"name":', '}')),
    place(
      'personal_api_keys/',
      '/api/personal_api_keys/',
      ['list'],
      between('{"label":"hostile","scopes":', '}'),
    ),
    place('personal_api_keys/', '/api/personal_api_keys/', ['damaged'], (value) => value),
  ];
}

/** Files of members that are hard to read, for the operation that takes such a file. */
export function csvBodies(bytes: number): Readonly<Record<string, Buffer>> {
  const fill = (unit: string) => Buffer.alloc(bytes - (bytes % unit.length), unit);
  return {
    'a CSV of empty lines': fill('\n'),
    'a CSV of one line of commas': fill(','),
    'a CSV of one line of quotes': fill('"'),
    'a CSV of a quote that never ends': wrap('distinct_id\n"', fill('a\n'), ''),
    'a CSV of quoted quotes': wrap('distinct_id\n', fill('""""\n'), ''),
    'a CSV of a million ids of one letter': wrap('distinct_id\n', fill('a\n'), ''),
    'a CSV of ids beside a thousand columns': wrap(
      'distinct_id\n',
      fill(`a${','.repeat(999)}\n`),
      '',
    ),
    'a CSV of carriage returns': fill('\r'),
  };
}
