import { invalidField } from '../../domain/common/refusal.ts';

/** What JSON can say and PostgreSQL cannot store: the NUL character and half a surrogate pair. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/**
 * Refuses a body with text that cannot be stored, and names its field. `place` goes before the name
 * when the body is part of a larger one.
 */
export function refuseUnstorableText(body: object, place = ''): void {
  for (const [field, value] of Object.entries(body)) {
    if (UNSTORABLE.test(JSON.stringify(value) ?? '')) {
      throw invalidField(
        `${place}${field}`,
        'Null characters are not allowed.',
        'null_characters_not_allowed',
      );
    }
  }
}
