import { ConfigError } from '../app/config.ts';
import { Refusal } from '../domain/common/refusal.ts';
import { isDatabaseOutage } from '../domain/database/database-error.ts';
import { EmbeddedPostgresError } from '../embedded-postgres/install/error.ts';

/** What went wrong, for the person at the terminal: what failed, and what to do if that is known. */
export function describeFailure(error: unknown): string {
  if (error instanceof EmbeddedPostgresError || error instanceof ConfigError) return error.message;
  if (error instanceof Refusal) {
    return error.attr === null ? error.detail : `${error.attr}: ${error.detail}`;
  }
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return `${error.message}. Another program uses this port; choose another one with PORT.`;
  }
  if (code === 'EACCES' && error.message.includes('listen')) {
    return `${error.message}. Choose a port from 1024 on with PORT.`;
  }
  if (isDatabaseOutage(error)) return `The database cannot be reached: ${messageOf(error)}`;
  if (code === '28P01' || code === '28000' || code === '3D000') {
    return `The database refuses the connection: ${error.message}`;
  }
  return error.stack ?? error.message;
}

/** An error that stands for several has no text of its own. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  return error.errors
    .map((part: unknown) => (part instanceof Error ? part.message : ''))
    .join('; ');
}
