import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../common/json.ts';
import { isNoisyProperty } from './mapped-properties.ts';
import type { MergeRequest, PersonChange } from './person-changes.ts';

/** A person while a transaction changes it in memory. */
export interface PersonDraft {
  /** Null until the row exists. */
  id: number | null;
  /** A map, so that no key (`__proto__`) means anything but itself. */
  properties: Map<string, JsonValue>;
  isIdentified: boolean;
  createdAt: Date;
  isChanged: boolean;
  /** The person that absorbed this one. */
  mergedInto: PersonDraft | null;
}

/** One person absorbed by another, in the order in which it happened. */
export interface PersonMerge {
  readonly from: PersonDraft;
  readonly to: PersonDraft;
}

/** A distinct id that gets a person for the first time. */
export interface AttachedDistinctId {
  readonly distinctId: string;
  readonly person: PersonDraft;
}

/** All persons of one project that a transaction touches, and what has to be written in the end. */
export interface PersonLedger {
  readonly byDistinctId: Map<string, PersonDraft>;
  readonly created: PersonDraft[];
  readonly attached: AttachedDistinctId[];
  readonly merges: PersonMerge[];
}

/** One event's change, addressed to the person of its distinct id. */
export interface LedgerEntry {
  readonly distinctId: string;
  readonly timestamp: Date;
  readonly change: PersonChange;
}

/**
 * Why two persons stay two: the other one is known by itself already, or one of the ids is a
 * placeholder that many people share.
 */
export type MergeRefusal = 'already_identified' | 'illegal_distinct_id';

/** Told of a merge that was asked for and does not happen. */
type OnMergeRefused = (reason: MergeRefusal) => void;

/** A ledger that knows no person yet. */
export function createPersonLedger(): PersonLedger {
  return { byDistinctId: new Map(), created: [], attached: [], merges: [] };
}

/** The person that the draft has become through merges; itself when it was never absorbed. */
export function findSurvivor(draft: PersonDraft): PersonDraft {
  let survivor = draft;
  while (survivor.mergedInto !== null) survivor = survivor.mergedInto;
  return survivor;
}

/** The id of a person whose row exists by now; a fault of the caller's order when it does not. */
export function requireId(person: PersonDraft): number {
  if (person.id === null) throw new Error('A person is referred to before it has a row.');
  return person.id;
}

/**
 * Applies one event's change, after those before it, and returns the event's person: null only
 * when the change is a mere lookup of a person that does not exist.
 */
export function applyPersonChange(
  ledger: PersonLedger,
  entry: LedgerEntry,
  onMergeRefused: OnMergeRefused = () => {},
): PersonDraft | null {
  const { distinctId, change } = entry;
  if (change.mode === 'lookup') return findPerson(ledger, distinctId) ?? null;
  if (change.isMergeIllegal) onMergeRefused('illegal_distinct_id');
  const isCreated =
    change.merge !== null && applyMerge(ledger, entry, change.merge, onMergeRefused);
  const person = findPerson(ledger, distinctId);
  if (person === undefined) return createPerson(ledger, [distinctId], entry, false);
  if (!isCreated) applyProperties(person, change);
  return person;
}

/**
 * Joins the person of the other distinct id to the event's own; returns whether a person was
 * created, who then has the event's properties already. An identified other person is only
 * absorbed when the merge is forced: two known people do not become one by a client's mistake.
 */
function applyMerge(
  ledger: PersonLedger,
  entry: LedgerEntry,
  merge: MergeRequest,
  onMergeRefused: OnMergeRefused,
): boolean {
  const { distinctId } = entry;
  const { otherDistinctId, isForced } = merge;
  const target = findPerson(ledger, distinctId);
  const other = findPerson(ledger, otherDistinctId);
  if (target === undefined && other === undefined) {
    createPerson(ledger, [distinctId, otherDistinctId], entry, true);
    return true;
  }
  if (target === undefined || other === undefined) {
    const person = target ?? other;
    if (person === undefined) return false;
    attach(ledger, target === undefined ? distinctId : otherDistinctId, person);
    markIdentified(person);
  } else if (target === other) {
    markIdentified(target);
  } else if (!other.isIdentified || isForced) {
    absorb(ledger, other, target);
  } else {
    onMergeRefused('already_identified');
  }
  return false;
}

function absorb(ledger: PersonLedger, from: PersonDraft, to: PersonDraft): void {
  to.properties = new Map([...from.properties, ...to.properties]);
  if (from.createdAt < to.createdAt) to.createdAt = from.createdAt;
  to.isIdentified = true;
  to.isChanged = true;
  from.mergedInto = to;
  ledger.merges.push({ from, to });
}

function markIdentified(person: PersonDraft): void {
  if (person.isIdentified) return;
  person.isIdentified = true;
  person.isChanged = true;
}

function findPerson(ledger: PersonLedger, distinctId: string): PersonDraft | undefined {
  const draft = ledger.byDistinctId.get(distinctId);
  if (draft === undefined || draft.mergedInto === null) return draft;
  const survivor = findSurvivor(draft);
  ledger.byDistinctId.set(distinctId, survivor);
  return survivor;
}

function createPerson(
  ledger: PersonLedger,
  distinctIds: readonly string[],
  { change, timestamp }: LedgerEntry,
  isIdentified: boolean,
): PersonDraft {
  const person: PersonDraft = {
    id: null,
    properties: new Map(
      Object.entries(change.setOnce).concat(
        Object.entries(change.mapped),
        Object.entries(change.set),
      ),
    ),
    isIdentified,
    createdAt: timestamp,
    isChanged: false,
    mergedInto: null,
  };
  ledger.created.push(person);
  for (const distinctId of distinctIds) attach(ledger, distinctId, person);
  return person;
}

function attach(ledger: PersonLedger, distinctId: string, person: PersonDraft): void {
  ledger.byDistinctId.set(distinctId, person);
  ledger.attached.push({ distinctId, person });
}

/**
 * Sets what is missing, sets what differs, then unsets what the person had before this event. What
 * an ordinary event merely implies and what is only noise does not make the person worth a write.
 */
function applyProperties(person: PersonDraft, change: PersonChange): void {
  const { properties } = person;
  const removed = change.unset.filter((key) => properties.has(key));
  const added = Object.entries(change.setOnce).filter(([key]) => !properties.has(key));
  const isWorthWriting =
    removed.length + added.length > 0 ||
    Object.entries(change.set).some(([key, value]) => isDifferent(properties, key, value)) ||
    Object.entries(change.mapped).some(
      ([key, value]) =>
        isDifferent(properties, key, value) && (change.isPersonEvent || !isNoise(properties, key)),
    );
  if (!isWorthWriting) return;
  for (const [key, value] of added) properties.set(key, value);
  for (const [key, value] of Object.entries(change.mapped)) properties.set(key, value);
  for (const [key, value] of Object.entries(change.set)) properties.set(key, value);
  for (const key of removed) properties.delete(key);
  person.isChanged = true;
}

type Properties = ReadonlyMap<string, JsonValue>;

function isNoise(properties: Properties, key: string): boolean {
  return isNoisyProperty(key) && properties.has(key);
}

function isDifferent(properties: Properties, key: string, value: JsonValue): boolean {
  return !properties.has(key) || !isDeepStrictEqual(properties.get(key), value);
}
