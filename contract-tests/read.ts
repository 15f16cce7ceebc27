/** The value at the end of a path into parsed JSON; undefined when the path leads nowhere. */
export function pick(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    const entries: readonly [string, unknown][] = Object.entries(current);
    current = entries.find(([name]) => name === String(step))?.[1];
  }
  return current;
}

/** The text at the end of a path; throws when there is none. */
export function pickText(value: unknown, ...path: readonly (string | number)[]): string {
  const found = pick(value, ...path);
  if (typeof found === 'string') return found;
  throw new Error(`No text at ${path.join('.')} of ${JSON.stringify(value)}`);
}

/** The number at the end of a path; throws when there is none. */
export function pickNumber(value: unknown, ...path: readonly (string | number)[]): number {
  const found = pick(value, ...path);
  if (typeof found === 'number') return found;
  throw new Error(`No number at ${path.join('.')} of ${JSON.stringify(value)}`);
}

/** The list at the end of a path; throws when there is none. */
export function pickList(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = pick(value, ...path);
  if (Array.isArray(found)) return found;
  throw new Error(`No list at ${path.join('.')} of ${JSON.stringify(value)}`);
}

/** The entries of an object or array; none of anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
