/** A failure of the embedded database whose message tells the operator what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** The code of a system or PostgreSQL error (`EACCES`, `57P03`), or an empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}

/** Whether the system refused access to a file or folder. */
export function isAccessDenied(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error));
}

/**
 * Runs `task`; a refused access to the data folder becomes a sentence that names the folder and
 * both users, everything else is thrown as it came.
 */
export async function explainingAccess<T>(folder: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!isAccessDenied(error)) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError(
      `Burgee, running as ${userName(process.getuid?.())}, may not use its data folder ${folder} ` +
        `(${detail}). A data folder belongs to the user that first started Burgee on it: start ` +
        'Burgee as that user, or give it another data folder.',
      { cause: error },
    );
  }
}

/** `root` or `user 1000`, for messages. */
export function userName(uid: number | undefined): string {
  if (uid === undefined) return 'this user';
  return uid === 0 ? 'root' : `user ${uid}`;
}
