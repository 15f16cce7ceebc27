import type { JsonValue } from '../../common/json.ts';
import { toFlagId } from '../model/flag-dependencies.ts';

/** What a client sent as ids of flags. */
export interface SentFlagIds {
  readonly ids: readonly number[];
  /** What cannot be an id, as it was sent. */
  readonly invalid: readonly JsonValue[];
}

/** The id that a client means: digits, as a number or as text; null for anything else. */
export function readFlagId(sent: JsonValue): number | null {
  return typeof sent === 'number' || typeof sent === 'string' ? toFlagId(String(sent)) : null;
}

/** Separates ids from what cannot be one. */
export function readFlagIds(sent: readonly JsonValue[]): SentFlagIds {
  const ids: number[] = [];
  const invalid: JsonValue[] = [];
  for (const value of sent) {
    const id = readFlagId(value);
    if (id === null) invalid.push(value);
    else ids.push(id);
  }
  return { ids, invalid };
}
