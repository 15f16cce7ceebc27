/** What an action was refused for. */
interface Refusal {
  readonly detail: string;
  readonly code?: string;
  readonly attr?: string | null;
}

/**
 * The body with which an action is refused: what such actions have always sent, and beside it the
 * envelope of every other refusal.
 */
export function actionError({ detail, code = 'invalid_input', attr = null }: Refusal) {
  return { error: detail, type: 'validation_error' as const, code, detail, attr };
}

/** The same for an action that says `success` when it works. */
export function unsuccessful(refusal: Refusal) {
  return { success: false as const, ...actionError(refusal) };
}
