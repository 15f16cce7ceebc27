import {
  type CoverageTable,
  type CoverageWorld,
  FLAGS,
  keyed,
  MISSING_PROJECT,
  type PathOf,
  type Provoke,
  refusals,
  writing,
} from './provoke.ts';

/** An action on a flag of its own in the given state; it is refused on a deleted flag. */
function acting(action: string, state: object): Record<number, Provoke> {
  const path: PathOf = (world) => `${world.flag.path}${action}/`;
  const onOwn =
    (partial: object): Provoke =>
    async (world) => {
      const own = await world.burgee.createFlag();
      await world.burgee.api('PATCH', own.path, { body: partial });
      return world.send('POST', `${own.path}${action}/`, keyed(world));
    };
  return {
    200: onOwn(state),
    400: onOwn({ deleted: true }),
    ...refusals('POST', path, () => `${FLAGS}999999/${action}/`),
  };
}

/** A bulk operation with a body that it takes; without ids it is refused. */
function bulk(action: string, body: (world: CoverageWorld) => object): Record<number, Provoke> {
  const path: PathOf = () => `${FLAGS}${action}/`;
  return {
    ...refusals('POST', path, () => `${MISSING_PROJECT}${action}/`),
    ...writing('POST', path, 200, {}),
    200: (world) => world.send('POST', path(world), keyed(world, { body: body(world) })),
    400: (world) =>
      world.send('POST', path(world), keyed(world, { body: { ...body(world), ids: [] } })),
  };
}

const version = (number: number): PathOf => {
  return (world) => `${world.flag.path}versions/${number}/`;
};

/** Asks for the first version of a flag of its own. */
function versionOf(
  partial: object,
  prepare: (world: CoverageWorld, id: number) => Promise<unknown>,
): Provoke {
  return async (world) => {
    const own = await world.burgee.createFlag(partial);
    await prepare(world, own.id);
    return world.send('GET', `${own.path}versions/1/`, keyed(world));
  };
}

const SECRET = {
  is_remote_configuration: true,
  has_encrypted_payloads: true,
  filters: { groups: [{}], payloads: { true: '1' } },
};

/** What can be done with flags besides writing one of them as a whole. */
export const flagActionOperations: CoverageTable = {
  enableFeatureFlag: acting('enable', { active: false }),
  disableFeatureFlag: acting('disable', { active: true }),
  bulkDeleteFeatureFlags: bulk('bulk_delete', () => ({ ids: [999_999] })),
  bulkUpdateFeatureFlagTags: bulk('bulk_update_tags', (world) => ({
    ids: [world.flag.id, 'x'],
    action: 'add',
    tags: ['covered'],
  })),
  getFeatureFlagVersion: {
    ...refusals('GET', version(1), version(999_999)),
    200: versionOf({}, async () => {}),
    400: versionOf(SECRET, async () => {}),
    422: versionOf({}, async ({ burgee }, id) => {
      await burgee.api('PATCH', `${FLAGS}${id}/`, { body: {} });
      await burgee
        .db('activity_log')
        .where({ item_id: String(id) })
        .delete();
    }),
  },
};
