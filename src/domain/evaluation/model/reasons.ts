/** Codes of an answer that was worked out. */
export type AnswerCode =
  | 'super_condition_value'
  | 'holdout_condition_value'
  | 'condition_match'
  | 'out_of_rollout_bound'
  | 'no_condition_match'
  | 'no_group_type'
  | 'flag_disabled'
  | 'missing_dependency';

/** Codes of a flag that could not be evaluated in this request. */
export type FailureCode =
  | 'flag_data_parsing_error'
  | 'cohort_filters_parsing_error'
  | 'dependency_not_found_cohort'
  | 'dependency_cycle_cohort'
  | 'dependency_failed'
  | 'database_unavailable';

/** The closed list of reason codes that the engine sends. */
export type ReasonCode = AnswerCode | FailureCode;

/** Text of each reason; `condition_match` gets the number of its condition appended. */
export const REASON_DESCRIPTIONS: Readonly<Record<ReasonCode, string>> = {
  super_condition_value: 'Super condition value',
  holdout_condition_value: 'Holdout condition value',
  condition_match: 'Matched condition set',
  out_of_rollout_bound: 'Out of rollout bound',
  no_condition_match: 'No matching condition set',
  no_group_type: 'No group type',
  flag_disabled: 'Feature flag is disabled',
  missing_dependency: 'Flag cannot be evaluated due to missing dependency',
  flag_data_parsing_error: 'Failed to parse flag filters',
  cohort_filters_parsing_error: 'Failed to parse cohort filters',
  dependency_not_found_cohort: 'Cohort dependency not found',
  dependency_cycle_cohort: 'Cohort dependency cycle detected',
  dependency_failed: 'Flag dependency could not be evaluated',
  database_unavailable: 'Stored data needed by this flag is unavailable',
};

/** Why nothing matched, in words; all three carry the code `no_condition_match`. */
export const MISS_DESCRIPTIONS = {
  plain: REASON_DESCRIPTIONS.no_condition_match,
  groupSkipped:
    'No matching condition set (group conditions were not evaluated because no group type was provided)',
  behavioural:
    "This condition targets a behavioral or realtime cohort. Its membership is not fully evaluated here, so this result can differ from the cohort's member list.",
} as const;

/** Which text of `no_condition_match` applies. */
export type MissKind = keyof typeof MISS_DESCRIPTIONS;
