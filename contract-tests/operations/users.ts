import type { CoverageTable } from './provoke.ts';
import { accepting, answering } from './provoke-account.ts';

const me = () => '/api/users/@me/';

/** The operations on the caller. */
export const userOperations: CoverageTable = {
  getCurrentUser: answering('GET', me, 200),
  updateCurrentUser: accepting('PATCH', me, 200, {
    good: { first_name: 'Ann' },
    bad: { first_name: 5 },
  }),
};
