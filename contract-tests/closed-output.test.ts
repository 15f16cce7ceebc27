import { afterAll, expect, it, vi } from 'vitest';
import { createTemporaryFolder } from '../test/temporary-folder.ts';
import { endBurgeeProcesses, startBurgeeProcess } from './burgee-process.ts';
import { findFreePort } from './free-port.ts';
import { createHttpClient } from './http.ts';

const START_TIMEOUT_MS = 90_000;

const folder = createTemporaryFolder();

afterAll(async () => {
  await endBurgeeProcesses();
  folder.remove();
}, START_TIMEOUT_MS);

it(
  'starts, serves and stops although nobody reads what it prints and logs',
  async () => {
    const port = await findFreePort();
    const burgee = startBurgeeProcess({
      PORT: String(port),
      BURGEE_DATA_DIR: folder.path,
      LOG_LEVEL: 'trace',
    });
    // The first sentence comes while the database is being made; the address comes after it.
    await vi.waitFor(() => expect(burgee.output()).not.toBe(''), START_TIMEOUT_MS);
    expect(burgee.output()).not.toContain('is ready');
    burgee.stopReading();
    const client = createHttpClient(`http://127.0.0.1:${port}`);
    const readiness = () => client.send('GET', '/_readiness').then(({ status }) => status);
    const ended = burgee.ended.then((code) => Promise.reject(new Error(`Ended with ${code}`)));
    const ready = vi.waitFor(async () => expect(await readiness()).toBe(200), START_TIMEOUT_MS);
    await Promise.race([ready, ended]);
    expect((await client.send('GET', '/openapi.json')).status).toBe(200);
    client.close();
    burgee.kill('SIGTERM');
    expect(await burgee.ended).toBe(0);
  },
  START_TIMEOUT_MS,
);
