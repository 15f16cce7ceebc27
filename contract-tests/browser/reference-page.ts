import type { Locator, Page } from 'playwright-core';

/** What a script expects of the page, within this time. */
const LIMIT_MS = 30_000;

/** The reference as somebody at a browser uses it. */
export class ReferencePage {
  readonly page: Page;
  /** Errors that the page logged or threw. */
  readonly errors: string[] = [];
  /** Addresses that the page asked for. */
  readonly requested: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(LIMIT_MS);
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('request', (request) => this.requested.push(request.url()));
  }

  /** Opens the reference and waits until it shows operations. */
  async open(url: string): Promise<void> {
    await this.page.goto(url);
    await this.page.locator('.opblock-tag-section').first().waitFor();
  }

  /** The ids of the operations that are shown. */
  operations(): Promise<string[]> {
    return this.page
      .locator('.opblock')
      .evaluateAll((blocks) => blocks.map(({ id }) => id.replace(/^.*-/, '')));
  }

  /** Unfolds an operation, fills in what is given, sends it, and returns status and body. */
  async tryOut(
    operation: string,
    fill: { readonly parameters?: Readonly<Record<string, string>>; readonly body?: string },
  ): Promise<{ status: string; body: string }> {
    const block = this.page.locator(`[id$="-${operation}"].opblock`);
    if (!(await block.locator('.opblock-body').isVisible())) {
      await block.locator('.opblock-summary-control').click();
    }
    for (const [name, value] of Object.entries(fill.parameters ?? {})) {
      await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
    }
    if (fill.body !== undefined) await block.locator('.body-param__text').fill(fill.body);
    // The answer to an earlier call would stay there until the next one comes.
    const clear = block.locator('.btn-clear');
    if (await clear.isVisible()) await clear.click();
    await block.locator('.btn.execute').click();
    const answer = block.locator('.live-responses-table tbody tr.response');
    return {
      status: await firstWord(answer.locator('.response-col_status')),
      body: await answer.locator('.response-col_description pre').first().innerText(),
    };
  }

  /** Enters a key in the dialog for it. */
  async authorize(scheme: string, key: string): Promise<void> {
    await this.page.locator('.auth-wrapper .btn.authorize').first().click();
    const dialog = this.page.locator('.modal-ux');
    const form = dialog.locator('.auth-container', { hasText: scheme });
    await form.locator('input').fill(key);
    await form.locator('.btn.authorize').click();
    await form.getByText('Authorized').waitFor();
    await dialog.locator('.btn-done').first().click();
    await dialog.waitFor({ state: 'detached' });
  }
}

async function firstWord(place: Locator): Promise<string> {
  return (await place.innerText()).trim().split(/\s/)[0] ?? '';
}
