/** What an operator takes as the value of a filter; `targeting/validate-property.ts` has the rules. */
export type OperatorValue =
  /** Any JSON value. */
  | 'any'
  /** Nothing: a value is ignored. */
  | 'none'
  /** Text, or a number that is compared as its text. */
  | 'text'
  /** A regular expression. */
  | 'pattern'
  | 'list'
  /** Two numbers, the lower one first. */
  | 'range'
  | 'date'
  | 'version'
  /** A version whose last parts may be `*`. */
  | 'version_wildcard'
  /** The id of a cohort: the operator looks at no property. */
  | 'cohort'
  /** The value of another flag: the operator looks at no property. */
  | 'flag';

interface OperatorTraits {
  /** How a property is compared. An operator and its negation share one test. */
  readonly test: string;
  /**
   * Whether it is true where the test is false. A property that is missing passes no test, so this
   * is also the answer when the property is missing.
   */
  readonly negates: boolean;
  readonly value: OperatorValue;
  /**
   * Whether PostgreSQL can decide most rows by itself when persons are counted; the engine decides
   * those of every other operator.
   */
  readonly inSql: boolean;
}

/**
 * The closed list of operators. What the code does for a test or for a kind of value is in records
 * that have a member for each: one that is added here compiles once every one of them knows it.
 */
export const OPERATORS = {
  exact: { test: 'exact', negates: false, value: 'any', inSql: true },
  is_not: { test: 'exact', negates: true, value: 'any', inSql: true },
  is_set: { test: 'is_set', negates: false, value: 'none', inSql: true },
  is_not_set: { test: 'is_set', negates: true, value: 'none', inSql: true },
  icontains: { test: 'icontains', negates: false, value: 'text', inSql: true },
  not_icontains: { test: 'icontains', negates: true, value: 'text', inSql: true },
  icontains_multi: { test: 'icontains_multi', negates: false, value: 'list', inSql: true },
  not_icontains_multi: { test: 'icontains_multi', negates: true, value: 'list', inSql: true },
  starts_with: { test: 'starts_with', negates: false, value: 'any', inSql: true },
  not_starts_with: { test: 'starts_with', negates: true, value: 'any', inSql: true },
  ends_with: { test: 'ends_with', negates: false, value: 'any', inSql: true },
  not_ends_with: { test: 'ends_with', negates: true, value: 'any', inSql: true },
  regex: { test: 'regex', negates: false, value: 'pattern', inSql: true },
  not_regex: { test: 'regex', negates: true, value: 'pattern', inSql: true },
  gt: { test: 'gt', negates: false, value: 'text', inSql: true },
  gte: { test: 'gte', negates: false, value: 'text', inSql: true },
  lt: { test: 'lt', negates: false, value: 'text', inSql: true },
  lte: { test: 'lte', negates: false, value: 'text', inSql: true },
  between: { test: 'between', negates: false, value: 'range', inSql: true },
  not_between: { test: 'between', negates: true, value: 'range', inSql: true },
  semver_eq: { test: 'semver_eq', negates: false, value: 'version', inSql: false },
  // A test of its own and no negation: what is not a version, or is missing, does not match either.
  semver_neq: { test: 'semver_neq', negates: false, value: 'version', inSql: false },
  semver_gt: { test: 'semver_gt', negates: false, value: 'version', inSql: false },
  semver_gte: { test: 'semver_gte', negates: false, value: 'version', inSql: false },
  semver_lt: { test: 'semver_lt', negates: false, value: 'version', inSql: false },
  semver_lte: { test: 'semver_lte', negates: false, value: 'version', inSql: false },
  semver_tilde: { test: 'semver_tilde', negates: false, value: 'version', inSql: false },
  semver_caret: { test: 'semver_caret', negates: false, value: 'version', inSql: false },
  semver_wildcard: {
    test: 'semver_wildcard',
    negates: false,
    value: 'version_wildcard',
    inSql: false,
  },
  is_date_exact: { test: 'is_date_exact', negates: false, value: 'date', inSql: false },
  is_date_before: { test: 'is_date_before', negates: false, value: 'date', inSql: false },
  is_date_after: { test: 'is_date_after', negates: false, value: 'date', inSql: false },
  in: { test: 'in', negates: false, value: 'cohort', inSql: false },
  not_in: { test: 'in', negates: true, value: 'cohort', inSql: false },
  flag_evaluates_to: { test: 'flag_evaluates_to', negates: false, value: 'flag', inSql: false },
} as const satisfies Record<string, OperatorTraits>;

type Operators = typeof OPERATORS;

/** The name of an operator. */
export type Operator = keyof Operators;

/** The tests of the operators whose traits match; those of all operators by default. */
export type OperatorTest<Traits = object> = Extract<Operators[Operator], Traits>['test'];

/** Whether there is an operator of this name. */
export function isOperator(name: string): name is Operator {
  return Object.hasOwn(OPERATORS, name);
}
