/** The closed list of operators. */
export const OPERATORS = [
  'exact',
  'is_not',
  'is_set',
  'is_not_set',
  'icontains',
  'not_icontains',
  'icontains_multi',
  'not_icontains_multi',
  'starts_with',
  'not_starts_with',
  'ends_with',
  'not_ends_with',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'lt',
  'lte',
  'between',
  'not_between',
  'semver_eq',
  'semver_neq',
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
  'semver_tilde',
  'semver_caret',
  'semver_wildcard',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'in',
  'not_in',
  'flag_evaluates_to',
] as const;

/** The closed list of operators. */
export type Operator = (typeof OPERATORS)[number];

const KNOWN: ReadonlyMap<string, Operator> = new Map(OPERATORS.map((name) => [name, name]));

/** The operator of this name, or null. */
export function readOperator(name: string): Operator | null {
  return KNOWN.get(name) ?? null;
}
