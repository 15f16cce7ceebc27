/**
 * Gives what came under another name the name that the contract lists, where that one has no value.
 * The body is changed in place, before it is checked.
 */
export function applyFieldAliases(body: unknown, aliases: ReadonlyMap<string, string>): void {
  if (aliases.size === 0 || typeof body !== 'object' || body === null) return;
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(body, alias)) continue;
    const value: unknown = Reflect.get(body, name);
    if (value === undefined || value === null) Reflect.set(body, name, Reflect.get(body, alias));
  }
}

/** The name under which a client sent what is now under the listed one. */
export function nameAsSent(
  body: unknown,
  aliases: ReadonlyMap<string, string>,
  name: string,
): string {
  if (typeof body !== 'object' || body === null) return name;
  for (const [alias, listed] of aliases) {
    const isMoved = listed === name && Object.hasOwn(body, alias);
    if (isMoved && Object.is(Reflect.get(body, alias), Reflect.get(body, name))) return alias;
  }
  return name;
}
