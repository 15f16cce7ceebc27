import type { StartedBurgee } from './start-burgee.ts';

/** How often the service answered an operation with a status, as its metrics tell. */
export async function countAnswers(
  burgee: Pick<StartedBurgee, 'request'>,
  operation: string,
  status: number,
): Promise<number> {
  const { text } = await burgee.request('GET', '/metrics');
  const labels = `{operation="${operation}",status="${status}"}`;
  const line = text
    .split('\n')
    .find((candidate) => candidate.startsWith(`burgee_requests_total${labels} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}
