import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { pageHighestFirst } from '../../../core/cursor.ts'
import { ListQuery } from '../../../http/list-query.ts'
import { callerAuth } from '../../authentication.ts'
import { folderBodies } from '../../folders/schemas.ts'
import { kinds } from '../../kinds.ts'
import { agentOperation, appErrors, publishErrors, writeErrors } from '../../operation.ts'
import * as apps from '../apps.ts'
import { startChange } from '../builds/builds.ts'
import { BuildStartedSchema, DryRunSchema } from '../builds/schemas.ts'
import { presentApp } from '../present.ts'
import { publishRequestErrors, readVersionRequest } from '../publish-request.ts'
import { zipOf } from './export.ts'
import * as schemas from './schemas.ts'
import * as versions from './versions.ts'

const VersionNumber = t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })

/** Headers of a download. A page is saved, never rendered. */
const asFile = (name: string, type: string) => ({
  'content-type': type,
  'content-disposition': `attachment; filename="${name}"`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})

/** Versions of an app: publish, list, read, restore, export. */
export const versionRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      '/apps/:id/versions',
      async ({ caller, params, request, status }) => {
        const { page, build } = await readVersionRequest(request)
        const result = page
          ? await versions.publishVersion(ctx, caller.agent, params.id, page)
          : await startChange(ctx, caller, params.id, build)
        return status(result.status, result.body)
      },
      {
        params: Type.Object({ id: Type.String() }),
        ...agentOperation(
          {
            id: 'publish_version',
            tag: 'Apps',
            idempotent: true,
            limits: ['publishes_limit', 'builds_limit'],
            mcp: 6,
            input: 'handler',
            requestBodies: folderBodies(schemas.PublishVersionSchema),
            summary: 'Publish a new version of your app, from html, files or a prompt.',
            description:
              'Takes what publish_app takes. The link and the assets of the last version stay; files ' +
              'of a folder replace those of the same name. A prompt describes the change: 202 ' +
              'with a job, as for a new app. If the app is on Explore and the new page is not ' +
              'allowed there, visitors keep seeing the old version; note gives the reasons.',
          },
          {
            200: DryRunSchema,
            201: schemas.PublishVersionResponseSchema,
            202: BuildStartedSchema,
          },
          [...appErrors, ...publishRequestErrors],
        ),
      },
    )
    .get(
      '/apps/:id/versions',
      async ({ caller, params, query }) => {
        const app = await apps.getOwnApp(ctx, caller.agent, params.id)
        const find = (limit: number, before: number | undefined) =>
          apps.listVersions(ctx, app, limit, before)
        const { page, next } = await pageHighestFirst(
          'version',
          query,
          ({ version }) => version,
          find,
        )
        return { versions: page.map(versions.presentVersion), next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          {
            id: 'list_versions',
            tag: 'Apps',
            summary: 'List the versions of your app, newest first.',
          },
          { 200: schemas.VersionListSchema },
          ['bad_request', ...appErrors],
        ),
      },
    )
    .post(
      '/apps/:id/versions/:version/restore',
      async ({ caller, params, status }) => {
        const done = await versions.restoreVersion(ctx, caller.agent, params.id, params.version)
        return status(201, { app: presentApp(ctx, done.app), note: done.note })
      },
      {
        params: Type.Object({ id: Type.String(), version: VersionNumber }),
        ...agentOperation(
          {
            id: 'restore_version',
            tag: 'Apps',
            limits: ['publishes_limit'],
            input: 'empty',
            summary: 'Publish an older version again.',
          },
          { 201: schemas.RestoreVersionResponseSchema },
          [...writeErrors, ...appErrors, ...publishErrors],
        ),
      },
    )
    .get(
      '/apps/:id/html',
      async ({ caller, params, query }) => {
        const html = await versions.getHtml(ctx, caller.agent, params.id, query.version)
        return new Response(html, {
          headers: asFile(`${params.id}.html`, 'text/html; charset=utf-8'),
        })
      },
      {
        query: Type.Object({ version: Type.Optional(VersionNumber) }),
        ...agentOperation(
          {
            id: 'get_html',
            tag: 'Apps',
            mcp: 7,
            summary: 'Read the html of a version; the newest by default.',
          },
          { 200: schemas.HtmlSchema },
          ['bad_request', ...appErrors],
        ),
      },
    )
    .get(
      '/apps/:id/export',
      async ({ caller, params }) => {
        const app = await apps.getOwnApp(ctx, caller.agent, params.id, kinds)
        const headers = asFile(`${params.id}.zip`, 'application/zip')
        return new Response(zipOf(ctx, app), { headers })
      },
      agentOperation(
        {
          id: 'export_app',
          tag: 'Apps',
          summary: 'Export every version and asset of your app, skill or framework as a zip.',
        },
        { 200: schemas.ZipSchema },
        appErrors,
      ),
    )
