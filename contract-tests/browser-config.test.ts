import { createContext, Script } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from './read.ts';
import { type StartedBurgee, startBurgee } from './start-burgee.ts';

const SUPPORT = {
  supportedCompression: ['gzip', 'gzip-js'],
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  sessionRecording: false,
};
const EVALUATION_PATHS = ['/flags', '/flags/', '/decide', '/decide/'];

let burgee: StartedBurgee;

beforeAll(async () => {
  burgee = await startBurgee();
});

afterAll(async () => {
  await burgee.stop();
});

function settings(hasFeatureFlags: boolean, token = burgee.projectApiKey) {
  return {
    token,
    ...SUPPORT,
    surveys: false,
    heatmaps: false,
    capturePerformance: false,
    autocaptureExceptions: false,
    autocapture_opt_out: false,
    siteApps: [],
    defaultIdentifiedOnly: true,
    elementsChainAsString: true,
    captureDeadClicks: false,
    hasFeatureFlags,
  };
}

/** What a page has in `window` after the script has run. */
function runScript(text: string, window: object = {}): unknown {
  new Script(text).runInContext(createContext({ window }));
  const left: unknown = JSON.parse(JSON.stringify(window));
  return left;
}

const read = (token: string, name = 'config', headers: Record<string, string> = {}) =>
  burgee.request('GET', `/array/${encodeURIComponent(token)}/${name}`, { headers });

describe('the settings of browser SDKs', () => {
  it('say that there are no flags until there is an active one', async () => {
    const answer = async () => (await read(burgee.projectApiKey)).body;
    expect(await answer()).toEqual(settings(false));
    const flag = await burgee.createFlag({ active: false });
    expect(await answer()).toEqual(settings(false));
    await burgee.api('PATCH', flag.path, { body: { active: true } });
    expect(await answer()).toEqual(settings(true));
    await burgee.api('PATCH', flag.path, { body: { deleted: true } });
    expect(await answer()).toEqual(settings(false));
    await burgee.createFlag();
  });

  it.each(['config', 'config/', 'config?ip=0&_=1&ver=1.434.18'])('are JSON at %s', async (name) => {
    const reply = await read(burgee.projectApiKey, name);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(reply.body).toEqual(settings(true));
  });

  it('are the same that an evaluation adds', async () => {
    const { body } = await burgee.evaluate({}, { v: '2', config: 'true' });
    const { token, ...rest } = settings(true);
    expect(body).toMatchObject(rest);
    expect(body).not.toHaveProperty('token');
    expect(token).toBe(burgee.projectApiKey);
  });

  it('are those of the project that the token names', async () => {
    const project = await burgee.createProject();
    expect((await read(project.projectApiKey)).body).toEqual(
      settings(false, project.projectApiKey),
    );
  });
});

describe('the script with the settings', () => {
  it('leaves them where posthog-js looks, by token', async () => {
    const reply = await read(burgee.projectApiKey, 'config.js');
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(/^(application|text)\/javascript/);
    expect(runScript(reply.text)).toEqual({
      _POSTHOG_REMOTE_CONFIG: {
        [burgee.projectApiKey]: { config: settings(true), siteApps: [] },
      },
    });
  });

  it('leaves those of another project on the same page alone', async () => {
    const project = await burgee.createProject();
    const window = { _POSTHOG_REMOTE_CONFIG: { 'another-token': { config: 'kept' } } };
    for (const token of [burgee.projectApiKey, project.projectApiKey]) {
      runScript((await read(token, 'config.js')).text, window);
    }
    expect(Object.keys(window._POSTHOG_REMOTE_CONFIG).toSorted()).toEqual(
      ['another-token', burgee.projectApiKey, project.projectApiKey].toSorted(),
    );
    expect(window._POSTHOG_REMOTE_CONFIG['another-token']).toEqual({ config: 'kept' });
  });

  it('cannot be made to run what a token says', async () => {
    const token = `"];</script><script>alert('x')//`;
    await burgee.db('projects').insert({ name: 'Nasty', api_token: token });
    const reply = await read(token, 'config.js');
    expect(reply.status).toBe(200);
    expect(reply.text).not.toContain('</script>');
    expect(pick(runScript(reply.text), '_POSTHOG_REMOTE_CONFIG', token, 'config', 'token')).toBe(
      token,
    );
  });
});

describe.each(['config', 'config.js'])('%s', (name) => {
  it('is refused with 404 for a token that no project has', async () => {
    for (const token of ['phc_unknown', burgee.personalApiKey, burgee.projectSecretKey]) {
      const reply = await read(token, name);
      expect([token, reply.status, reply.text]).toEqual([token, 404, 'Not found.']);
    }
  });

  it('can be read by pages of every origin, refused or not, and asked for with HEAD', async () => {
    const headers = { origin: 'https://shop.example' };
    for (const token of [burgee.projectApiKey, 'phc_unknown']) {
      const reply = await read(token, name, headers);
      expect(reply.headers['access-control-allow-origin']).toBe('https://shop.example');
    }
    const head = await burgee.request('HEAD', `/array/${burgee.projectApiKey}/${name}`);
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await burgee.request('POST', `/array/x/${name}`, { body: {} })).status).toBe(405);
  });
});

describe('the methods of /flags and /decide', () => {
  it.each(EVALUATION_PATHS)('describe on GET %s what is supported, without a key', async (path) => {
    for (const v of [null, '', '1', 'x', '2', '3', '4']) {
      const isNew = Number(v) >= (path.startsWith('/decide') ? 4 : 2);
      const reply = await burgee.request('GET', path, { query: v === null ? {} : { v } });
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({ ...(isNew ? { flags: {} } : { featureFlags: {} }), ...SUPPORT });
    }
  });

  it.each(EVALUATION_PATHS)('answer HEAD %s with the headers alone', async (path) => {
    const reply = await burgee.request('HEAD', path);
    expect([reply.status, reply.text]).toEqual([200, '']);
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
  });

  it.each(EVALUATION_PATHS)(
    'answer OPTIONS %s with 204 and the methods that there are',
    async (path) => {
      const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
      const reply = await burgee.request('OPTIONS', path, { headers });
      expect([reply.status, reply.text]).toEqual([204, '']);
      expect(reply.headers.allow).toBe('GET, HEAD, POST, OPTIONS');
      expect(reply.headers['access-control-allow-origin']).toBe('https://shop.example');
    },
  );

  it.each(EVALUATION_PATHS)('are no others: %s refuses them with 405', async (path) => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const reply = await burgee.request(method, path, { body: {} });
      expect([method, reply.status]).toEqual([method, 405]);
      const allowed = (reply.headers.allow ?? '').split(/, ?/).toSorted();
      expect(allowed).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST']);
    }
  });
});

it('left nothing in the log at error level', () => {
  expect(burgee.errors()).toEqual([]);
});
