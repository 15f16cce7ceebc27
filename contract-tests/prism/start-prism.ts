import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openContract, readContract } from '../contract.ts';
import { findFreePort } from '../free-port.ts';
import { startShim } from './shim.ts';

/** Prism behind its shim. */
export interface Prism {
  readonly url: string;
  stop(): Promise<void>;
}

export interface PrismOptions {
  /** Where the real service is; null mocks it from the examples of the contract. */
  readonly upstream: string | null;
  /** 0 takes any free port. */
  readonly port?: number;
  /** Whether replies that break the contract become errors. */
  readonly isStrict?: boolean;
  readonly print?: (text: string) => void;
}

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const PRISM = fileURLToPath(import.meta.resolve('@stoplight/prism-cli/dist/index.js'));
const READY = /Prism is listening on/;

/** Starts Prism over `openapi.yaml` in a process of its own. Rejects when it ends before. */
export async function startPrism(options: PrismOptions): Promise<Prism> {
  const port = await findFreePort();
  const mode =
    options.upstream === null
      ? ['mock', 'openapi.yaml']
      : [
          'proxy',
          'openapi.yaml',
          options.upstream,
          '--validate-request=false',
          ...(options.isStrict === true ? ['--errors'] : []),
        ];
  const child = spawn(process.execPath, [PRISM, ...mode, '-p', String(port)], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = once(child, 'close');
  const ready = new Promise<void>((resolve, reject) => {
    const read = (text: string) => {
      output += text;
      options.print?.(text);
      if (READY.test(output)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    void ended.then(() => reject(new Error(`Prism ended: ${output}`)));
  });
  await ready;
  const contract = openContract(readContract());
  const upstream = `http://127.0.0.1:${port}`;
  const shim = await startShim({ contract, upstream, port: options.port ?? 0 });
  return {
    url: shim.url,
    async stop() {
      await shim.stop();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
