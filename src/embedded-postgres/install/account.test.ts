import { describe, expect, it } from 'vitest';
import { parseAccounts } from './account.ts';

const PASSWD = `root:x:0:0:root:/root:/bin/bash
nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false
postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash
`;

describe('parseAccounts', () => {
  it('finds accounts in the order that is asked for, with unsigned ids', () => {
    expect(parseAccounts(PASSWD, ['postgres', 'missing', 'nobody'])).toEqual([
      { name: 'postgres', uid: 101, gid: 104 },
      { name: 'nobody', uid: 4_294_967_294, gid: 4_294_967_294 },
    ]);
  });

  it('never returns root', () => {
    expect(parseAccounts(PASSWD, ['root'])).toEqual([]);
  });
});
