import type { Bootstrapped } from '../domain/projects/bootstrap.ts';

/** What the first start shows: the keys, once, and two commands to paste. */
export function firstWelcome(url: string, created: Bootstrapped): string {
  const { project, personalApiKey, projectSecretKey } = created;
  return `
Burgee is ready at ${url}

  Project API key     ${project.apiToken}
  Personal API key    ${personalApiKey}
  Project secret key  ${projectSecretKey}

The personal API key and the project secret key are shown this once. Keep them.

Create a flag:

curl -X POST ${url}/api/projects/${project.id}/feature_flags/ \\
  -H 'Authorization: Bearer ${personalApiKey}' \\
  -H 'Content-Type: application/json' \\
  -d '{"key": "new-checkout", "filters": {"groups": [{"rollout_percentage": 100}]}}'

Evaluate it:

curl -X POST '${url}/flags?v=2' \\
  -H 'Content-Type: application/json' \\
  -d '{"api_key": "${project.apiToken}", "distinct_id": "user-1"}'
`;
}

/** What every later start shows. */
export function laterWelcome(url: string): string {
  return `
Burgee is ready at ${url}
`;
}

/** The address to show for a host and a port: one that can be opened on this machine. */
export function displayUrl(host: string, port: number): string {
  const isEverywhere = host === '0.0.0.0' || host === '::';
  const name = isEverywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
