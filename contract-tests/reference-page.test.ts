import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

/** What a browser needs of the reference; `npm run test:browser` opens it in a real one. */
describe('the API reference', () => {
  let burgee: StartedBurgee;

  beforeAll(async () => {
    burgee = await startBurgee();
  });

  afterAll(async () => {
    await burgee.stop();
  });

  it('is where the root leads', async () => {
    const reply = await burgee.request('GET', '/');
    expect([reply.status, reply.headers.location]).toEqual([302, '/docs']);
  });

  it('loads nothing from another host', async () => {
    const page = await burgee.request('GET', '/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch('text/html');
    expect(page.headers['content-security-policy']).toMatch("default-src 'none'");
    expect(page.text).not.toMatch(/https?:/);
  });

  it('comes with every file that the page names', async () => {
    const { text } = await burgee.request('GET', '/docs');
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).toHaveLength(6);
    for (const file of files) {
      expect((await burgee.request('GET', file)).status, file).toBe(200);
    }
  });
});
