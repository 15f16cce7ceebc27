import { reachableProjectIds } from '../../domain/common/access.ts';
import { notFound } from '../../domain/common/refusal.ts';
import type { IdentityChanges } from '../../domain/projects/change-identities.ts';
import type { ProjectChanges } from '../../domain/projects/change-project.ts';
import type { Project } from '../../domain/projects/project.ts';
import type { ProjectSettings } from '../../domain/projects/project-settings.ts';
import {
  createOwnProject,
  deleteSecretKeyBackup,
  rotateSecretKey,
  updateProject,
} from '../../domain/projects/projects-commands.ts';
import { getProject, listProjectsById } from '../../domain/projects/projects-queries.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import { userOf } from '../common/caller.ts';
import { offsetLinks, pageSize } from '../common/pagination.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

type ProjectHandlers = Pick<
  Handlers,
  | 'listProjects'
  | 'createProject'
  | 'getProject'
  | 'updateProject'
  | 'rotateProjectSecretKey'
  | 'deleteProjectSecretKeyBackup'
>;

const PAGE_SIZE = 100;

/** The operations on projects, their settings and their secret keys. */
export function createProjectHandlers(context: IdentityChanges & ProjectChanges): ProjectHandlers {
  return {
    async listProjects({ query, caller, origin, reply }) {
      const ids = reachableProjectIds(userOf(caller));
      const limit = pageSize(query.limit, PAGE_SIZE);
      const offset = query.offset ?? 0;
      const page = await listProjectsById(context.db, ids.slice(offset, offset + limit));
      return reply(200, {
        count: ids.length,
        ...offsetLinks(origin, { limit, offset, total: ids.length }),
        results: page.map((project) => toProjectBody(project)),
      });
    },

    async createProject({ body, caller, reply }) {
      refuseUnstorableText(body);
      const input = { ...toSettings(body), name: body.name };
      const { project, secretKey } = await createOwnProject(context, userOf(caller), input);
      return reply(201, toProjectBody(project, secretKey));
    },

    async getProject({ access, reply }) {
      const project = await getProject(context.db, access.projectId);
      if (project === undefined) throw notFound('Project not found.');
      return reply(200, toProjectBody(project));
    },

    async updateProject({ body, access, reply }) {
      refuseUnstorableText(body);
      const project = await updateProject(context, access.projectId, toSettings(body));
      return reply(200, toProjectBody(project));
    },

    async rotateProjectSecretKey({ access, reply }) {
      const { project, secretKey } = await rotateSecretKey(context, access.projectId);
      return reply(200, toProjectBody(project, secretKey));
    },

    async deleteProjectSecretKeyBackup({ access, reply }) {
      const project = await deleteSecretKeyBackup(context, access.projectId);
      return reply(200, toProjectBody(project));
    },
  };
}

function toSettings(body: NonNullable<Body<'updateProject'>>): ProjectSettings {
  return {
    name: body.name,
    timezone: body.timezone,
    flagRequestsPerMonth: body.flag_requests_per_month,
  };
}

/** A project as it is sent; with its secret key only in the reply to what drew it. */
function toProjectBody(project: Project, secretKey: string | null = null) {
  return {
    id: project.id,
    uuid: project.uuid,
    name: project.name,
    api_token: project.apiToken,
    secret_api_token: secretKey,
    has_secret_api_token_backup: project.hasSecretKeyBackup,
    timezone: project.timezone,
    flag_requests_per_month: project.flagRequestsPerMonth,
    created_at: project.createdAt.toISOString(),
  };
}
