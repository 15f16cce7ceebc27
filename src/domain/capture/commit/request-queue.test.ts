import { expect, it } from 'vitest';
import { runAtOnce } from '../../common/time-slices.ts';
import { prepareEvents } from './prepared-event.ts';
import { type CaptureRequest, countCharacters, createRequestQueue } from './request-queue.ts';

function aRequest(eventCount: number, text = ''): CaptureRequest {
  const now = new Date();
  const event = { uuid: 'u', event: 'x', distinctId: 'd', timestamp: now, receivedAt: now };
  const sent = Array.from({ length: eventCount }, () => ({ ...event, properties: { text } }));
  const events = runAtOnce(prepareEvents(1, sent));
  return {
    events,
    characters: countCharacters(events),
    addedAt: eventCount,
    resolve: () => {},
    reject: () => {},
  };
}

function sizes(requests: readonly CaptureRequest[]): number[] {
  return requests.map(({ events }) => events.length);
}

it('takes whole requests in their order up to the limit of events', () => {
  const queue = createRequestQueue({ batchMaxEvents: 5, batchMaxCharacters: 1e6 });
  for (const count of [2, 3, 1, 9, 4]) queue.push(aRequest(count));
  expect(queue.oldestAddedAt()).toBe(2);
  expect(sizes(queue.takeBatch())).toEqual([2, 3]);
  expect(sizes(queue.takeBatch())).toEqual([1]);
  expect(queue.isBatchFull()).toBe(true);
  expect(sizes(queue.takeBatch())).toEqual([9]);
  expect(queue.isBatchFull()).toBe(false);
  expect(sizes(queue.takeBatch())).toEqual([4]);
  expect(queue.oldestAddedAt()).toBeNull();
  expect(sizes(queue.takeBatch())).toEqual([]);
});

it('does not put more text into a batch than a statement should carry', () => {
  const queue = createRequestQueue({ batchMaxEvents: 100, batchMaxCharacters: 500 });
  queue.push(aRequest(1, 'x'.repeat(200)));
  expect(queue.isBatchFull()).toBe(false);
  queue.push(aRequest(1, 'x'.repeat(900)));
  expect(queue.isBatchFull()).toBe(true);
  queue.push(aRequest(1, 'x'.repeat(10)));
  expect(sizes(queue.takeBatch())).toEqual([1]);
  expect(sizes(queue.takeBatch())).toEqual([1]);
  expect(queue.isBatchFull()).toBe(false);
});
