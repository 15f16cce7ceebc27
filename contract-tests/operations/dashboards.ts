import { pickNumber } from '../read.ts';
import {
  type CoverageTable,
  type CoverageWorld,
  FLAGS,
  keyed,
  type PathOf,
  type Provoke,
  reading,
  refusals,
  writing,
} from './provoke.ts';

const DASHBOARDS = '/api/projects/1/dashboards/';
const USAGE = '/api/projects/1/feature_flag_request_usage/';

const dashboards: PathOf = () => DASHBOARDS;
const dashboard: PathOf = ({ flag }) => `${DASHBOARDS}${pickNumber(flag.body, 'usage_dashboard')}/`;
const usage: PathOf = () => USAGE;
const generating: PathOf = ({ flag }) => `${flag.path}dashboard/`;
const enriching: PathOf = ({ flag }) => `${flag.path}enrich_usage_dashboard/`;

/** The useless key may read dashboards, so reading them is refused to a key for flags. */
function withoutScope(method: string, path: PathOf): Record<number, Provoke> {
  return {
    403: async (world) => {
      const { key } = await world.burgee.createKey({ scopes: ['feature_flag:read'] });
      return world.send(method, path(world), { key });
    },
  };
}

function inMissingProject(path: string): PathOf {
  return () => path.replace('/projects/1/', '/projects/999999/');
}

/** A new flag whose views were reported after its dashboard was made. */
async function createViewedFlag({ burgee }: CoverageWorld) {
  const flag = await burgee.createFlag();
  await burgee.api('PATCH', flag.path, { body: { has_enriched_analytics: true } });
  return flag;
}

/** The operations on dashboards and on what a project uses. */
export const dashboardOperations: CoverageTable = {
  createUsageDashboard: {
    ...writing('POST', generating, 200, {}),
    400: (world) => world.send('POST', generating(world), keyed(world, { body: [] })),
    ...refusals('POST', generating, () => `${FLAGS}999999/dashboard/`),
  },
  enrichUsageDashboard: {
    ...writing('POST', enriching, 200, {}),
    200: async (world) => {
      const flag = await createViewedFlag(world);
      return world.send('POST', `${flag.path}enrich_usage_dashboard/`, keyed(world));
    },
    400: (world) => world.send('POST', enriching(world), keyed(world)),
    ...refusals('POST', enriching, () => `${FLAGS}999999/enrich_usage_dashboard/`),
  },
  listDashboards: {
    ...reading(dashboards, 200, 'limit=many'),
    ...refusals('GET', dashboards, inMissingProject(DASHBOARDS)),
    ...withoutScope('GET', dashboards),
  },
  getDashboard: {
    ...reading(dashboard, 200, null),
    ...refusals('GET', dashboard, () => `${DASHBOARDS}999999/`),
    ...withoutScope('GET', dashboard),
  },
  updateDashboard: {
    ...refusals('PATCH', dashboard, () => `${DASHBOARDS}999999/`),
    ...writing('PATCH', dashboard, 200, { name: 'changed' }),
    400: (world) => world.send('PATCH', dashboard(world), keyed(world, { body: { name: '' } })),
  },
  listRequestUsage: {
    ...reading(usage, 200, 'date_from=yesterday'),
    ...refusals('GET', usage, inMissingProject(USAGE)),
  },
};
