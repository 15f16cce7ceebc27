import { Refusal, unavailable } from '../common/refusal.ts';

const UNIQUE_VIOLATION = '23505';

/** SQLSTATE classes and codes that say: the server, not the statement, is at fault. */
const OUTAGE_SQLSTATES = /^(08|53|57P|25P03)/;

const LOCK_TIMEOUT = '55P03';

/** A statement that was cancelled, and a lock that was waited for too long. */
const TIMEOUT_SQLSTATES = new Set(['57014', LOCK_TIMEOUT]);

/** Serialisation failures and deadlocks. */
const LOST_RACE_SQLSTATES = new Set(['40001', '40P01']);

const OUTAGE_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);

const OUTAGE_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection timeout|^timeout expired$|acquiring a connection|client has encountered a connection error/i;

/** Whether the error means that the database cannot be reached or cannot serve. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // A file that is missing is no outage, unless it is the socket of the server.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== '' && (OUTAGE_SQLSTATES.test(code) || OUTAGE_SYSTEM_CODES.has(code))) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseOutage);
  return OUTAGE_MESSAGES.test(error.message);
}

/** Whether the failure is nobody's fault: whatever else is tried now would fail the same way. */
export function isOutage(error: unknown): boolean {
  return isDatabaseOutage(error) || (error instanceof Refusal && error.kind === 'unavailable');
}

/** Whether a statement ran, or waited for a lock, for longer than it was given. */
export function isStatementTimeout(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && TIMEOUT_SQLSTATES.has(error.code);
}

/** Whether the transaction lost a race: the same statements succeed when they are simply run again. */
export function isLostRace(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && LOST_RACE_SQLSTATES.has(error.code);
}

/** Whether a lock was waited for in vain. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_TIMEOUT;
}

/** Whether a write broke the unique index of this name. */
export function isUniqueViolation(error: unknown, indexName: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint' in error &&
    error.constraint === indexName
  );
}

/** An outage as the domain's `unavailable`; every other error as it came. */
export function toRefusal(error: unknown): unknown {
  if (error instanceof Refusal || !isDatabaseOutage(error)) return error;
  return unavailable('The database is unavailable. Please try again shortly.', error);
}
