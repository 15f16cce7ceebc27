import type { ErrorObject } from 'ajv';

/**
 * The finding to report of several: one about the path, since what does not exist cannot be changed,
 * else the most specific one, the first of those.
 */
export function pickFinding(findings: readonly ErrorObject[]): ErrorObject | undefined {
  const depth = ({ instancePath }: ErrorObject) =>
    instancePath.startsWith('/path/') ? Number.POSITIVE_INFINITY : instancePath.split('/').length;
  let picked: ErrorObject | undefined;
  for (const finding of findings) {
    if (picked === undefined || depth(finding) > depth(picked)) picked = finding;
  }
  return picked;
}
