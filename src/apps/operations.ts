import { pageNewestFirst } from '../kernel/cursor.ts'
import { ListQuery } from '../kernel/http/list-query.ts'
import { Replay } from '../kernel/http/outcome.ts'
import { agent, agentKeyErrors, reader } from '../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../people/operation.ts'
import * as apps from './apps.ts'
import { getPlayable } from './audience/access.ts'
import { startBuild } from './builds/builds.ts'
import { BuildStartedSchema, DryRunSchema } from './builds/job-data.ts'
import * as deletion from './deletion.ts'
import { folderBodies } from './folders/folder.ts'
import { appUrl } from './kinds.ts'
import { presentApp } from './present.ts'
import { publishRequestErrors, readPublishRequest } from './publish-request.ts'
import * as publish from './publish.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Apps')

export const publishApp = operation({
  id: 'publish_app',
  route: 'POST /apps',
  idempotent: true,
  limits: ['publishes_limit', 'builds_limit'],
  mcp: 4,
  showsApp: true,
  useTool: {
    name: 'build_app',
    summary: 'Have an app or game built from a prompt.',
    description:
      'It starts a build at a fixed maximum price, and returns the app with its job. get_job ' +
      'waits for it. Only a successful build is charged. With dryRun it returns the price.',
    without: ['html', 'files', 'uses'],
    required: ['prompt'],
  },
  summary: 'Publish a page (html) or a folder (files), or have one built (prompt).',
  description:
    'Send exactly one of html, files and prompt, or a zip as the body with the other ' +
    'fields as query parameters. A page is scanned, hosted immediately as version 1, and ' +
    'free: 201. A prompt starts a build at a fixed maximum price: 202 with a job. Only a ' +
    'successful build is charged. With dryRun the response is 200 and nothing is stored.',
  access: agent,
  input: { read: readPublishRequest, bodies: folderBodies(schemas.PublishAppSchema) },
  output: {
    200: DryRunSchema,
    201: schemas.PublishAppResponseSchema,
    202: BuildStartedSchema,
  },
  errors: ['games_off', ...publishRequestErrors],
  async run(ctx, { caller, body: { page, build } }) {
    const result = page
      ? await publish.publishApp(ctx, caller.agent, page)
      : await startBuild(ctx, caller, build)
    return new Replay(result)
  },
})

const listApps = operation({
  id: 'list_apps',
  route: 'GET /apps',
  mcp: 10,
  summary: 'List your apps and games, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: schemas.AppListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const { page, next } = await pageNewestFirst('app', query, (limit, after) =>
      apps.listByMaker(ctx, caller.agent.id, limit, after),
    )
    return { apps: page.map((app) => presentApp(ctx, app)), next }
  },
})

const getApp = operation({
  id: 'get_app',
  route: 'GET /apps/:id',
  mcp: 9,
  summary: 'Read one of your apps.',
  access: agent,
  output: { 200: schemas.AppResponseSchema },
  errors: appErrors,
  run: async (ctx, { caller, params }) => ({
    app: presentApp(ctx, await apps.getOwnApp(ctx, caller.agent, params.id)),
  }),
})

const playApp = operationsOf('Playing')({
  id: 'play_app',
  route: 'GET /apps/:id/play',
  mcp: 'shown',
  showsApp: true,
  summary: 'Open an app that you may open: any with a link, or one that is shared with you.',
  description: 'Chats that show apps show it. All others get its link.',
  access: reader,
  output: { 200: schemas.PlayedAppSchema },
  errors: [...agentKeyErrors, ...appErrors, 'busy'],
  async run(ctx, { params, headers, context }) {
    const app = await getPlayable(ctx, params.id, { headers, context })
    const { id, title, description } = app
    return {
      app: { id, title, description, version: apps.visibleVersion(app), link: appUrl(ctx, id) },
    }
  },
})

export const changeApp = operation({
  id: 'change_app',
  route: 'PATCH /apps/:id',
  mcp: 8,
  showsApp: true,
  summary: 'Change the title, description, shelf, price or Explore listing of an app.',
  description:
    'Send at least one field. With store true the page is scanned again. If it cannot go ' +
    'on Explore, the error is not_listable and the other changes are stored.',
  access: agent,
  input: { body: schemas.ChangeAppSchema },
  output: { 200: schemas.ChangeAppResponseSchema },
  errors: [...writeErrors, ...appErrors, 'busy', 'not_listable'],
  run: (ctx, { caller, params, body }) => publish.changeApp(ctx, caller.agent, params.id, body),
})

export const deleteApp = operation({
  id: 'delete_app',
  route: 'DELETE /apps/:id',
  mcp: 'shown',
  summary: 'Delete an app; restorable for 30 days.',
  access: agent,
  output: { 200: schemas.DeletedAppSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    const app = await apps.getOwnApp(ctx, caller.agent, params.id)
    await deletion.deleteApp(ctx, app)
    const note =
      app.version === 0
        ? 'The first build was canceled and not charged. The app is deleted.'
        : 'The link no longer works. POST /apps/{id}/restore restores the app within 30 days.'
    return { id: app.id, note }
  },
})

export const restoreApp = operation({
  id: 'restore_app',
  route: 'POST /apps/:id/restore',
  onFullDisk: 'allow',
  summary: 'Restore an app that was deleted within the last 30 days.',
  access: agent,
  input: { body: 'none' },
  output: { 200: schemas.AppResponseSchema },
  errors: [...writeErrors, ...appErrors],
  run: async (ctx, { caller, params }) => ({
    app: presentApp(ctx, await deletion.restoreDeletedApp(ctx, caller.agent, params.id)),
  }),
})

/** Apps of an agent (document 1, operations 8 to 11). */
export const appOperations = [
  publishApp,
  listApps,
  getApp,
  playApp,
  changeApp,
  deleteApp,
  restoreApp,
]
