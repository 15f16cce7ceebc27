/**
 * Staleness as conditions on `feature_flags`, so that a list can be narrowed to stale flags. They
 * agree with `flag-status.ts`, which decides for one flag; a test keeps the two consistent.
 */

/** The list under a path of the filters; none when there is no list. */
function listAt(path: string): string {
  return `jsonb_array_elements(
    CASE jsonb_typeof(${path}) WHEN 'array' THEN ${path} ELSE '[]' END
  )`;
}

const isObject = (value: string) => `jsonb_typeof(${value}) = 'object'`;

/** The flag has variants. */
export const HAS_VARIANTS = `EXISTS (
  SELECT FROM ${listAt("filters->'multivariate'->'variants'")} AS variant
  WHERE ${isObject('variant')}
)`;

const HAS_CONDITIONS = `EXISTS (
  SELECT FROM ${listAt("filters->'groups'")} AS condition WHERE ${isObject('condition')}
)`;

/** The first condition that admits everybody: no property filter, and an explicit 100 percent. */
const FULL_CONDITION = `
  SELECT condition
  FROM ${listAt("filters->'groups'")} WITH ORDINALITY AS numbered (condition, place)
  WHERE ${isObject('condition')}
    AND condition->'rollout_percentage' = '100'
    AND NOT EXISTS (
      SELECT FROM ${listAt("condition->'properties'")} AS property WHERE ${isObject('property')}
    )
  ORDER BY place
  LIMIT 1`;

const FIRST_FULL_VARIANT = `
  SELECT variant
  FROM ${listAt("filters->'multivariate'->'variants'")} WITH ORDINALITY AS numbered (variant, place)
  WHERE ${isObject('variant')} AND variant->'rollout_percentage' = '100'
  ORDER BY place
  LIMIT 1`;

/** Text, and not empty; anything else names no variant. */
const PINS_VARIANT = `(
  jsonb_typeof(condition->'variant') = 'string' AND condition->>'variant' <> ''
)`;

/** Everybody gets the same value. */
const IS_CONSTANT = `
  CASE WHEN ${HAS_VARIANTS}
  THEN EXISTS (
    SELECT FROM (${FULL_CONDITION}) AS full_condition
    WHERE ${PINS_VARIANT}
      OR EXISTS (
        SELECT FROM (${FIRST_FULL_VARIANT}) AS full_variant
        WHERE jsonb_typeof(variant->'key') = 'string'
      )
  )
  ELSE NOT ${HAS_CONDITIONS} OR EXISTS (${FULL_CONDITION})
  END`;

/**
 * What `reportFlagStatus` calls stale, with two bindings: the moment before which a flag was last
 * called, and the moment before which it was created if it was never called.
 */
export const IS_STALE = `(
  active AND NOT deleted AND CASE
    WHEN last_called_at IS NOT NULL THEN last_called_at < ?
    ELSE created_at < ? AND ${IS_CONSTANT}
  END
)`;
