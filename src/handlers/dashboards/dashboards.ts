import type { Caller } from '../../domain/common/access.ts';
import { notFound, Refusal, refusedAction } from '../../domain/common/refusal.ts';
import { type Dashboard, describeTile, type Tile } from '../../domain/dashboards/dashboard.ts';
import {
  type DashboardCommandsContext,
  type DashboardInput,
  enrichUsageDashboard,
  ensureUsageDashboard,
  updateDashboard,
} from '../../domain/dashboards/dashboards-commands.ts';
import {
  getDashboard,
  listDashboards,
  listTiles,
} from '../../domain/dashboards/dashboards-queries.ts';
import { readTileResults, type TrendSeries } from '../../domain/dashboards/tile-results.ts';
import { getProject } from '../../domain/projects/projects-queries.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import { offsetLinks, pageSize } from '../common/pagination.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

const PAGE_SIZE = 100;

/** The date that the reference server announces; clients may look for the header. */
const SUNSET = 'Fri, 25 Sep 2026 00:00:00 GMT';

type DashboardHandlers = Pick<
  Handlers,
  | 'createUsageDashboard'
  | 'enrichUsageDashboard'
  | 'listDashboards'
  | 'getDashboard'
  | 'updateDashboard'
>;

/** The operations on dashboards. */
export function createDashboardHandlers(context: DashboardCommandsContext): DashboardHandlers {
  return {
    async createUsageDashboard({ params, access, reply }) {
      const address = { projectId: access.projectId, flagId: params.id };
      await inActionForm(ensureUsageDashboard(context, address, userIdOf(access.caller)));
      return reply(200, { success: true }, { deprecation: 'true', sunset: SUNSET });
    },

    async enrichUsageDashboard({ params, access, reply }) {
      const address = { projectId: access.projectId, flagId: params.id };
      await inActionForm(enrichUsageDashboard(context, address));
      return reply(200, { success: true }, { deprecation: 'true' });
    },

    async listDashboards({ query, access, origin, reply }) {
      const limit = pageSize(query.limit, PAGE_SIZE);
      const offset = query.offset ?? 0;
      const page = await listDashboards(context.db, access.projectId, { limit, offset });
      return reply(200, {
        count: page.count,
        ...offsetLinks(origin, { limit, offset, total: page.count }),
        results: page.dashboards.map(toSummaryBody),
      });
    },

    async getDashboard({ params, access, reply }) {
      const dashboard = await getDashboard(context.db, access.projectId, params.id);
      if (dashboard === undefined) throw notFound();
      return reply(200, await describe(context, dashboard));
    },

    async updateDashboard({ params, body, access, reply }) {
      const input = toInput(body);
      const changed = await updateDashboard(context, access.projectId, params.id, input);
      return reply(200, await describe(context, changed));
    },
  };
}

/** Refusals of the action in the form that such actions have; other failures as they are. */
async function inActionForm(action: Promise<void>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'invalid') throw error;
    throw refusedAction('success', error);
  }
}

function userIdOf(caller: Caller): number | null {
  return caller.kind === 'user' ? caller.user.id : null;
}

function toInput(body: Body<'updateDashboard'>): DashboardInput {
  const { name, description, deleted } = body;
  refuseUnstorableText({ name, description });
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(deleted === undefined ? {} : { deleted }),
  };
}

async function describe(context: DashboardCommandsContext, dashboard: Dashboard) {
  const project = await getProject(context.db, dashboard.projectId);
  if (project === undefined) throw notFound();
  const tiles = await listTiles(context.db, dashboard.id);
  const results = await readTileResults(context.db, project, tiles, context.now());
  return {
    ...toSummaryBody(dashboard),
    tiles: tiles.map((tile) => toTileBody(tile, results.get(tile.id) ?? [])),
  };
}

function toSummaryBody(dashboard: Dashboard) {
  return {
    id: dashboard.id,
    name: dashboard.name,
    description: dashboard.description,
    creation_mode: dashboard.creationMode,
    created_at: dashboard.createdAt.toISOString(),
    deleted: dashboard.deleted,
    filters: { date_from: '-30d' as const },
  };
}

function toTileBody(tile: Tile, result: readonly TrendSeries[]) {
  return {
    id: tile.id,
    insight: { id: tile.id, ...describeTile(tile), result: result.map(toSeriesBody) },
  };
}

function toSeriesBody(series: TrendSeries) {
  return {
    label: series.label,
    breakdown_value: series.breakdownValue,
    count: series.count,
    data: [...series.data],
    days: [...series.days],
    aggregated_value: series.aggregatedValue,
  };
}
