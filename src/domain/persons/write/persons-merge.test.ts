import { expect, it } from 'vitest';
import { readPersonChange } from '../model/person-changes.ts';
import { applyPersonChange, createPersonLedger, type PersonDraft } from '../model/person-ledger.ts';
import { findCarriers } from './persons-merge.ts';

const timestamp = new Date('2026-01-01');

function stored(id: number): PersonDraft {
  const empty = { properties: new Map(), isIdentified: false, isChanged: false };
  return { id, ...empty, createdAt: timestamp, mergedInto: null };
}

it('gives a row to a new person only if it remains or passes older rows on', () => {
  const ledger = createPersonLedger();
  ledger.byDistinctId.set('old', stored(1)).set('last', stored(2));
  const apply = (event: string, distinctId: string, alias?: string) => {
    const properties = alias === undefined ? {} : { alias };
    const change = readPersonChange({ event, distinctId, properties, timestamp });
    return applyPersonChange(ledger, { distinctId, timestamp, change });
  };
  const fleeting = apply('x', 'fleeting');
  const carrier = apply('x', 'carrier');
  apply('$merge_dangerously', 'carrier', 'fleeting');
  apply('$merge_dangerously', 'carrier', 'old');
  apply('$merge_dangerously', 'last', 'carrier');
  const carriers = findCarriers(ledger.merges);
  expect(ledger.created).toEqual([fleeting, carrier]);
  expect(carriers).toEqual(new Set([carrier, ledger.byDistinctId.get('last')]));
});
