import { describe, expect, it } from 'vitest';
import {
  aCondition,
  aContext,
  aFlag,
  aProject,
  aStored,
  compileTestPattern,
} from '../../../../test/builders.ts';
import { hash } from '../bucketing/hash.ts';
import { prepareSnapshot } from '../prepare/prepare.ts';
import { evaluateFlags } from './evaluate-flags.ts';

const FLAGS = 60;
const PERSONS = 40;
const SUBJECTS = ['person', 'device', 'company', 'site', 'override', 'long'] as const;

describe('flags that hash different identifiers in one request', () => {
  const subjectOf = (at: number) => SUBJECTS[at % SUBJECTS.length] ?? 'person';
  const keyOf = (at: number) =>
    subjectOf(at) === 'long' ? `${'long-key-'.repeat(at)}${at}` : `flag-${at}`;
  const flags = Array.from({ length: FLAGS }, (_, at) => {
    const subject = subjectOf(at);
    const groups = { company: 0, site: 1 } as const;
    const index = subject === 'company' || subject === 'site' ? groups[subject] : null;
    return aFlag({
      id: at + 1,
      key: keyOf(at),
      bucketingIdentifier: subject === 'device' ? 'device_id' : 'distinct_id',
      ensureExperienceContinuity: subject === 'override',
      filters: {
        aggregation_group_type_index: index,
        groups: [aCondition({ rollout_percentage: 60 })],
        ...(at % 4 < 2 ? { multivariate: { variants: [variant('a'), variant('b')] } } : {}),
      },
    });
  });
  const groupTypes = [
    { index: 0, name: 'company' },
    { index: 1, name: 'site' },
  ];
  const snapshot = prepareSnapshot(aProject({ flags, groupTypes }), compileTestPattern);

  it('each draw by their own', () => {
    for (let person = 0; person < PERSONS; person++) {
      const identifiers = {
        person: `person-${person}`,
        device: `0190a1b2-c3d4-7e8f-9a0b-c0ffee${person}`,
        company: `Żółw & Co ${person}`,
        site: String(person % 3),
        override: `first-${person}`,
        long: `person-${person}`,
      };
      const overrides = flags.map((flag): [string, string] => [flag.key, identifiers.override]);
      const context = aContext({
        distinctId: identifiers.person,
        deviceId: identifiers.device,
        groups: { company: identifiers.company, site: identifiers.site },
        stored: aStored({ hashKeyOverrides: new Map(overrides) }),
      });
      const { outcomes } = evaluateFlags(snapshot, context, { now: new Date(0) });
      const expected = flags.map(({ key }, at) => {
        const text = `${key}.${identifiers[subjectOf(at)]}`;
        if (hash(text) > 0.6) return false;
        if (at % 4 >= 2) return true;
        return hash(`${text}variant`) < 0.5 ? 'a' : 'b';
      });
      const actual = outcomes.map(({ enabled, variant: drawn }) => enabled && (drawn ?? true));
      expect(actual).toEqual(expected);
    }
  });
});

function variant(key: string) {
  return { key, rollout_percentage: 50 };
}
