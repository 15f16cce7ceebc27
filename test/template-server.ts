import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type DisposablePostgres, startDisposablePostgres } from './disposable-postgres.ts';

/** Answers workers that ask for the run's template database. */
export interface TemplateServer {
  /** Has a secret in it, because whoever reads it becomes the superuser of the server. */
  readonly url: string;
  /** Removes PostgreSQL, if anybody asked for it. */
  close(): Promise<void>;
}

/** Listens on a free port of this machine. The first request starts PostgreSQL, which takes seconds. */
export async function serveTemplate(): Promise<TemplateServer> {
  const path = `/${randomUUID()}`;
  let starting: Promise<DisposablePostgres> | undefined;
  const server = createServer((request, response) => {
    // A test file may be busy for longer than an idle connection is kept, and would find it closed.
    response.setHeader('connection', 'close');
    if (request.url !== path) {
      response.writeHead(404).end();
      return;
    }
    starting ??= startDisposablePostgres();
    starting.then(
      ({ connection }) => response.end(JSON.stringify(connection)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was opened.');
  return {
    url: `http://127.0.0.1:${address.port}${path}`,
    async close() {
      server.close();
      server.closeAllConnections();
      // A start that failed has cleaned up after itself, and its message went to the tests.
      const running = await starting?.catch(() => undefined);
      await running?.destroy();
    },
  };
}
