import { chmodSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canEnter, giveTo } from '../install/account.ts';
import { EmbeddedPostgresError } from '../install/error.ts';
import { type Layout, shortHash } from '../install/layout.ts';
import type { PostmasterFile } from './postmaster.ts';

/** Where a server listens: `host` is the folder of its Unix socket, or an IP address. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly isSocket: boolean;
}

/** The port only names the socket's file; the folder is what keeps servers apart. */
const SOCKET_PORT = 5432;

const LOOPBACK = '127.0.0.1';

/** macOS allows 103 bytes, Linux 107. */
const MAX_SOCKET_PATH_BYTES = 103;

/** Where a new server will listen: always the same place for a folder, but for the TCP port. */
export async function chooseEndpoint(
  layout: Layout,
  transport: 'socket' | 'tcp',
): Promise<Endpoint> {
  return transport === 'tcp'
    ? { host: LOOPBACK, port: await findFreePort(), isSocket: false }
    : { host: chooseSocketFolder(layout), port: SOCKET_PORT, isSocket: true };
}

/** Where a running server says it listens; undefined while it has not said so yet. */
export function endpointOf(file: PostmasterFile): Endpoint | undefined {
  const host = file.socketFolder === '' ? file.listenAddress : file.socketFolder;
  if (host === '' || !(file.port > 0)) return undefined;
  return { host, port: file.port, isSocket: file.socketFolder !== '' };
}

/** The settings that make a server listen there and nowhere else. */
export function listenSettings(endpoint: Endpoint): Record<string, string> {
  return endpoint.isSocket
    ? {
        listen_addresses: '',
        unix_socket_directories: endpoint.host,
        unix_socket_permissions: '0700',
        port: String(endpoint.port),
      }
    : {
        listen_addresses: endpoint.host,
        unix_socket_directories: '',
        port: String(endpoint.port),
      };
}

/**
 * Creates the folder for a socket that does not live in PostgreSQL's own folder. Throws an
 * `EmbeddedPostgresError` when somebody else made one of that name: everybody may write to the
 * temporary folder, so what is found there is not trusted as it is.
 */
export function createSocketFolder(endpoint: Endpoint, layout: Layout): void {
  const folder = endpoint.host;
  if (!endpoint.isSocket || folder === layout.dataFolder) return;
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(folder, { mode: 0o700 });
    chmodSync(folder, 0o700);
    giveTo(layout.account, folder);
  }
  const found = lstatSync(folder);
  const owner = layout.account?.uid ?? process.getuid?.();
  if (found.isDirectory() && (found.mode & 0o077) === 0 && found.uid === owner) return;
  throw new EmbeddedPostgresError(
    `${folder}, the folder for PostgreSQL's socket, was made by somebody else. Delete it and start ` +
      'again.',
  );
}

/** Removes that folder once the server has stopped, if nothing is left in it. */
export function removeSocketFolder(endpoint: Endpoint, layout: Layout): void {
  if (!endpoint.isSocket || endpoint.host === layout.dataFolder) return;
  try {
    rmdirSync(endpoint.host);
  } catch {
    // An empty folder more in the temporary folder harms nobody.
  }
}

/** Whether a socket in this folder has a path that every system accepts. */
export function fitsSocketPath(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH_BYTES;
}

/** PostgreSQL's own folder is private already; only a long path needs a folder elsewhere. */
function chooseSocketFolder(layout: Layout): string {
  // A comma would separate two folders, a leading @ would name an abstract socket.
  const isPlain = !/[,"]/.test(layout.dataFolder);
  if (isPlain && fitsSocketPath(layout.dataFolder)) return layout.dataFolder;
  const name = `burgee-${shortHash(layout.dataFolder)}`;
  const parent = [tmpdir(), '/tmp'].find(
    (folder) => fitsSocketPath(join(folder, name)) && canEnter(folder, layout.account),
  );
  if (parent === undefined) {
    throw new EmbeddedPostgresError(
      `No folder for PostgreSQL's socket: the path of ${layout.dataFolder} is too long for one, ` +
        `and neither ${tmpdir()} nor /tmp can be used. Give Burgee a data folder with a shorter path.`,
    );
  }
  return join(parent, name);
}

async function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, LOOPBACK, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
