import { describe, expect, it } from 'vitest';
import { renderChangelog } from './changelog.ts';
import type { Change } from './oasdiff.ts';

const contract = (version: string) => ({
  version,
  document: { paths: { '/a': { get: { operationId: 'getA' } } }, info: { version } },
});
const [first, second, third] = [contract('0.1.0'), contract('0.2.0'), contract('0.3.0')];

const gone = (operation: string): Change => ({
  id: 'gone',
  text: 'removed the field `x`',
  operation,
  breaks: true,
});
const CHANGES: readonly Change[] = [
  { id: 'new', text: 'endpoint added', operation: 'GET /b', breaks: false },
  gone('GET /a'),
  gone('POST /a'),
  { id: 'schema', text: 'removed the schema `X`', operation: null, breaks: true },
];

const sectionsOf = (text: string) => text.split(/^(?=## )/m).slice(1);

describe('the list of changes', () => {
  it('tells of the first release what it has', () => {
    const [section, ...others] = sectionsOf(renderChangelog([first], first, () => []));
    expect(section).toBe('## 0.1.0\n\nThe first release: 1 operations.\n');
    expect(others).toEqual([]);
  });

  it('has the newest first, breaking changes apart, and one row for the same change', () => {
    const [newest, oldest] = sectionsOf(
      renderChangelog([first, second], second, (before) =>
        before === first.document ? CHANGES : [],
      ),
    );
    expect(newest).toBe(
      [
        '## 0.2.0',
        '',
        '### Breaking',
        '',
        '- removed the field `x`: `GET /a`, `POST /a`',
        '- removed the schema `X`',
        '',
        '### Compatible',
        '',
        '- endpoint added: `GET /b`',
        '',
        '',
      ].join('\n'),
    );
    expect(oldest).toContain('## 0.1.0');
  });

  it('says of a release in which nothing changed that nothing did', () => {
    const [newest] = sectionsOf(renderChangelog([first, second], second, () => []));
    expect(newest).toContain('No change that a client could notice.');
  });

  it('says what is not released yet, under the version if that is a new one', () => {
    const raised = sectionsOf(renderChangelog([first, second], third, () => CHANGES));
    expect(raised[0]).toContain('## 0.3.0, not released\n');
    const same = sectionsOf(renderChangelog([first], first, () => CHANGES));
    expect(same[0]).toContain('## After 0.1.0\n');
  });
});
