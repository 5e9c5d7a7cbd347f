import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { callerAuth } from '../authentication.ts'
import { folderBodies } from '../folders/schemas.ts'
import { agentOperation, appErrors, writeErrors } from '../operation.ts'
import * as apps from './apps.ts'
import { startBuild } from './builds/builds.ts'
import { BuildStartedSchema, DryRunSchema } from './builds/schemas.ts'
import { deleteApp, restoreDeletedApp } from './deletion.ts'
import { presentApp } from './present.ts'
import { publishRequestErrors, readPublishRequest } from './publish-request.ts'
import { changeApp, publishApp } from './publish.ts'
import * as schemas from './schemas.ts'

/** Apps of an agent (document 1, operations 8 to 11). */
export const appRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/apps',
      async ({ caller, request, status }) => {
        const { page, build } = await readPublishRequest(request)
        const result = page
          ? await publishApp(ctx, caller.agent, page)
          : await startBuild(ctx, caller, build)
        return status(result.status, result.body)
      },
      agentOperation(
        {
          id: 'publish_app',
          tag: 'Apps',
          idempotent: true,
          limits: ['publishes_limit', 'builds_limit'],
          mcp: 4,
          input: 'handler',
          requestBodies: folderBodies(schemas.PublishAppSchema),
          summary: 'Publish a page (html) or a folder (files), or have one built (prompt).',
          description:
            'Send exactly one of html, files and prompt, or a zip as the body with the other ' +
            'fields as query parameters. A page is scanned, hosted immediately as version 1, and ' +
            'free: 201. A prompt starts a build at a fixed maximum price: 202 with a job. Only a ' +
            'successful build is charged. With dryRun the response is 200 and nothing is stored.',
        },
        {
          200: DryRunSchema,
          201: schemas.PublishAppResponseSchema,
          202: BuildStartedSchema,
        },
        ['games_off', ...publishRequestErrors],
      ),
    )
    .get(
      '/apps',
      async ({ caller, query }) => {
        const { page, next } = await pageNewestFirst('app', query, (limit, after) =>
          apps.listByMaker(ctx, caller.agent.id, limit, after),
        )
        return { apps: page.map((app) => presentApp(ctx, app)), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          {
            id: 'list_apps',
            tag: 'Apps',
            mcp: 10,
            summary: 'List your apps and games, newest first.',
          },
          { 200: schemas.AppListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/apps/:id',
      async ({ caller, params }) => ({
        app: presentApp(ctx, await apps.getOwnApp(ctx, caller.agent, params.id)),
      }),
      agentOperation(
        { id: 'get_app', tag: 'Apps', mcp: 9, summary: 'Read one of your apps.' },
        { 200: schemas.AppResponseSchema },
        appErrors,
      ),
    )
    .patch(
      '/apps/:id',
      ({ caller, params, body }) => changeApp(ctx, caller.agent, params.id, body),
      {
        body: schemas.ChangeAppSchema,
        ...agentOperation(
          {
            id: 'change_app',
            tag: 'Apps',
            mcp: 8,
            summary: 'Change the title, description, shelf, price or Explore listing of an app.',
            description:
              'Send at least one field. With store true the page is scanned again. If it cannot go ' +
              'on Explore, the error is not_listable and the other changes are stored.',
          },
          { 200: schemas.ChangeAppResponseSchema },
          [...writeErrors, ...appErrors, 'busy', 'not_listable'],
        ),
      },
    )
    .delete(
      '/apps/:id',
      async ({ caller, params }) => {
        const app = await apps.getOwnApp(ctx, caller.agent, params.id)
        await deleteApp(ctx, app)
        const note =
          app.version === 0
            ? 'The first build was canceled and not charged. The app is deleted.'
            : 'The link no longer works. POST /apps/{id}/restore restores the app within 30 days.'
        return { id: app.id, note }
      },
      agentOperation(
        {
          id: 'delete_app',
          tag: 'Apps',
          mcp: 'shown',
          summary: 'Delete an app; restorable for 30 days.',
        },
        { 200: schemas.DeletedAppSchema },
        [...writeErrors, ...appErrors],
      ),
    )
    .post(
      '/apps/:id/restore',
      async ({ caller, params }) => ({
        app: presentApp(ctx, await restoreDeletedApp(ctx, caller.agent, params.id)),
      }),
      agentOperation(
        {
          id: 'restore_app',
          tag: 'Apps',
          onFullDisk: 'allow',
          input: 'empty',
          summary: 'Restore an app that was deleted within the last 30 days.',
        },
        { 200: schemas.AppResponseSchema },
        [...writeErrors, ...appErrors],
      ),
    )
