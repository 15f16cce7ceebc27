/** The largest id of a flag, cohort, user or project: what PostgreSQL calls an integer. */
const ID_MAX = 2_147_483_647;

/** Whether the number can be an id. What cannot names nothing, and no query may be asked for it. */
export function isId(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= ID_MAX;
}
