import { pino } from 'pino';
import { type Config, ConfigError, readConfig } from '../app/config.ts';
import { type Service, startService } from '../app/service.ts';
import { describeFailure } from './describe-failure.ts';
import { displayUrl, firstWelcome, laterWelcome } from './welcome.ts';

/** The process around the service, as far as it needs it. */
export interface ProcessHooks {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Prints for a person. */
  readonly print: (text: string) => void;
  /** Prints a problem for a person. */
  readonly complain: (text: string) => void;
  /** Called once the service is ready, to give back what only the start needed. */
  readonly releaseMemory: () => void;
  /** Calls back at the first request to stop. */
  readonly onStop: (stop: () => void) => void;
}

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_MISCONFIGURED = 2;

/**
 * Runs Burgee until it is told to stop, and returns the exit code: 0 after a stop, 1 when the start
 * failed, 2 for a bad configuration. People read standard output; the structured log goes to
 * standard error.
 */
export async function runService(hooks: ProcessHooks): Promise<number> {
  const config = readConfigFor(hooks);
  if (config === null) return EXIT_MISCONFIGURED;
  const log = pino({ level: config.logLevel, base: null }, pino.destination(2));
  const aborting = new AbortController();
  const stopRequested = new Promise<void>((resolve) => {
    hooks.onStop(() => {
      aborting.abort();
      resolve();
    });
  });
  let service: Service;
  try {
    const say = (sentence: string) => hooks.print(sentence);
    const { releaseMemory } = hooks;
    service = await startService({ config, log, say, releaseMemory, signal: aborting.signal });
  } catch (error) {
    if (aborting.signal.aborted) return EXIT_OK;
    hooks.complain(describeFailure(error));
    log.debug({ err: error }, 'The start failed.');
    return EXIT_FAILED;
  }
  const url = displayUrl(config.host, service.port);
  const { bootstrapped } = service;
  hooks.print(bootstrapped === null ? laterWelcome(url) : firstWelcome(url, bootstrapped));
  hooks.releaseMemory();
  await stopRequested;
  hooks.print('Stopping Burgee.');
  await service.stop();
  return EXIT_OK;
}

function readConfigFor(hooks: ProcessHooks): Config | null {
  try {
    return readConfig(hooks.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    hooks.complain(error.message);
    return null;
  }
}
