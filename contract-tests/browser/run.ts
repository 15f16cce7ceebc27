import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { createTemporaryFolder } from '../../test/temporary-folder.ts';
import { endBurgeeProcesses, startBurgeeProcess } from '../burgee-process.ts';
import { openContract, readContract } from '../contract.ts';
import { findBrowser, NO_BROWSER } from './find-browser.ts';
import { ReferencePage } from './reference-page.ts';

/**
 * `npm run test:browser`: opens the API reference of a Burgee that runs for this purpose in a real
 * headless Chromium, and uses it. The last line is `N passed, N failed`.
 */
const KEYS = {
  BURGEE_PROJECT_API_KEY: 'phc_browserTestsProjectApiKey000000000000001',
  BURGEE_PERSONAL_API_KEY: 'phx_browserTestsPersonalApiKey000000000000001',
};

interface Scene {
  readonly url: string;
  readonly reference: ReferencePage;
  /** The folder for what the page looks like. */
  readonly pictures: string;
}

/** Each builds on the ones before it, as a visit does. */
const STEPS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async 'opens from the root'({ reference, url }) {
    await reference.open(`${url}/`);
    assert.equal(reference.page.url(), `${url}/docs`);
    assert.equal(await reference.page.title(), 'Burgee API');
  },

  async 'shows every operation of the contract'({ reference, pictures }) {
    await reference.page.screenshot({ path: join(pictures, 'start.png') });
    const { operations } = openContract(readContract());
    assert.deepEqual((await reference.operations()).toSorted(), ids(operations));
  },

  async 'sends a public call: the values of flags'({ reference }) {
    const body = JSON.stringify({ token: KEYS.BURGEE_PROJECT_API_KEY, distinct_id: 'a-person' });
    const reply = await reference.tryOut('evaluateFlags', { parameters: { v: '2' }, body });
    assert.equal(reply.status, '200');
    assert.match(reply.body, /"errorsWhileComputingFlags": false/);
  },

  async 'is refused a secured call without a key'({ reference }) {
    const parameters = { project_id: '@current' };
    const { status, body } = await reference.tryOut('listFeatureFlags', { parameters });
    assert.equal(status, '401');
    assert.match(body, /not_authenticated/);
    // The browser logs every refusal as an error; this one was asked for.
    const refusal = reference.errors.findIndex((text) => text.includes('status of 401'));
    assert.notEqual(refusal, -1);
    reference.errors.splice(refusal, 1);
  },

  async 'sends a secured call with the key of the dialog'({ reference }) {
    await reference.authorize('personalApiKey', KEYS.BURGEE_PERSONAL_API_KEY);
    const parameters = { project_id: '@current' };
    const reply = await reference.tryOut('listFeatureFlags', { parameters });
    assert.equal(reply.status, '200');
    assert.match(reply.body, /"results": \[\]/);
  },

  async 'asks no other host for anything'({ reference, url }) {
    const others = reference.requested.filter((address) => !address.startsWith(`${url}/`));
    assert.deepEqual(
      others.filter((address) => !address.startsWith('data:')),
      [],
    );
    assert.ok(reference.requested.includes(`${url}/openapi.json`));
  },

  async 'logs no error'({ reference }) {
    assert.deepEqual(reference.errors, []);
  },
};

function ids(operations: readonly { readonly id: string }[]): string[] {
  return operations.map(({ id }) => id).toSorted();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function runSteps(scene: Scene): Promise<{ passed: number; failed: number }> {
  let passed = 0;
  let failed = 0;
  for (const [name, step] of Object.entries(STEPS)) {
    try {
      await step(scene);
      passed += 1;
      print(`  passed  ${name}`);
    } catch (error) {
      failed += 1;
      print(`  failed  ${name}\n${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { passed, failed };
}

async function visit(browser: Browser): Promise<{ passed: number; failed: number }> {
  const data = createTemporaryFolder();
  try {
    const burgee = startBurgeeProcess({ ...KEYS, PORT: '0', BURGEE_DATA_DIR: data.path });
    const url = await burgee.ready;
    const page = await browser.newPage({ viewport: { width: 1200, height: 1400 } });
    const pictures = mkdtempSync(join(tmpdir(), 'burgee-reference-'));
    const counts = await runSteps({ url, reference: new ReferencePage(page), pictures });
    await page.screenshot({ path: join(pictures, 'end.png'), fullPage: true });
    print(`Pictures of the page at its start and at the end are in ${pictures}`);
    return counts;
  } finally {
    await endBurgeeProcesses();
    data.remove();
  }
}

async function main(): Promise<number> {
  const executablePath = findBrowser();
  if (executablePath === null) {
    print(`${NO_BROWSER}\n0 passed, 1 failed`);
    return 1;
  }
  // Chromium has no sandbox for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const { passed, failed } = await visit(browser);
    print(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    await browser.close();
  }
}

process.exitCode = await main();
