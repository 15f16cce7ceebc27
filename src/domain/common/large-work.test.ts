import { describe, expect, it } from 'vitest';
import { LargeWork } from './large-work.ts';

/** Asks for turns and notes who got one, in order. */
function aQueue(options: ConstructorParameters<typeof LargeWork>[0] = {}) {
  const work = new LargeWork(options);
  const admitted: string[] = [];
  const holders = new Map<string, object>();
  const holderOf = (name: string): object => {
    const holder = holders.get(name) ?? { name };
    holders.set(name, holder);
    return holder;
  };
  return {
    admitted,
    enter: async (name: string) => {
      await work.enter(holderOf(name));
      admitted.push(name);
    },
    leave: (name: string) => work.leave(holderOf(name)),
  };
}

const BUSY = { kind: 'unavailable', detail: expect.stringContaining('Please try again shortly.') };

describe('LargeWork', () => {
  it('lets one holder work at a time, in the order of arrival', async () => {
    const { enter, leave, admitted } = aQueue();
    const first = enter('a');
    const others = [enter('b'), enter('c')];
    await first;
    expect(admitted).toEqual(['a']);
    leave('a');
    await others[0];
    expect(admitted).toEqual(['a', 'b']);
    leave('b');
    await others[1];
    expect(admitted).toEqual(['a', 'b', 'c']);
  });

  it('lets as many work at the same time as it is told', async () => {
    const { enter, admitted } = aQueue({ atOnce: 2 });
    await Promise.all([enter('a'), enter('b')]);
    const third = enter('c');
    await Promise.resolve();
    expect(admitted).toEqual(['a', 'b']);
    expect(third).toBeInstanceOf(Promise);
  });

  it('gives a holder its turn once, however often it asks', async () => {
    const { enter, leave, admitted } = aQueue();
    await enter('a');
    await enter('a');
    const next = enter('b');
    leave('a');
    await next;
    expect(admitted).toEqual(['a', 'a', 'b']);
  });

  it('passes those by who are gone when their turn comes', async () => {
    const work = new LargeWork();
    const [first, gone, last] = [{}, {}, {}];
    await work.enter(first);
    const refused = expect(work.enter(gone, () => true)).rejects.toMatchObject(BUSY);
    const admitted = work.enter(last, () => false);
    work.leave(first);
    await Promise.all([refused, admitted]);
  });

  it('takes no notice of somebody who leaves without a turn', async () => {
    const { enter, leave, admitted } = aQueue();
    await enter('a');
    const next = enter('b');
    leave('c');
    leave('b');
    expect(admitted).toEqual(['a']);
    leave('a');
    await next;
  });

  it('refuses at once when too many wait', async () => {
    const { enter, leave } = aQueue({ maxWaiting: 1 });
    await enter('a');
    const waiting = enter('b');
    await expect(enter('c')).rejects.toMatchObject(BUSY);
    leave('a');
    await waiting;
  });

  it('refuses whoever waits for too long, and goes on with the others', async () => {
    const { enter, leave, admitted } = aQueue({ maxWaitMs: 5 });
    await enter('a');
    await Promise.all(['b', 'c'].map((name) => expect(enter(name)).rejects.toMatchObject(BUSY)));
    const last = enter('d');
    leave('a');
    await last;
    expect(admitted).toEqual(['a', 'd']);
  });
});
