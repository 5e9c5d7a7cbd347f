import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { highestFirst } from '../../../core/cursor.ts'
import { ListQuery } from '../../../core/list-query.ts'
import { takingNothing } from '../../../core/taking.ts'
import * as apps from '../apps.ts'
import { present } from '../present.ts'
import { withKey } from '../../key.ts'
import { ofApp, ofPublishing, ofWriting, operation } from '../../operation.ts'
import { zipOf } from './export.ts'
import * as schemas from './schemas.ts'
import * as versions from './versions.ts'

const VersionNumber = t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })

/** A page is data here, never a page: it is saved, not shown. */
const asFile = (name: string, type: string) => ({
  'content-type': type,
  'content-disposition': `attachment; filename="${name}"`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})

/** Versions of an agent's app: publish, list, read, restore, export. */
export const versionRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/apps/:id/versions',
      async ({ caller, params, query }) => {
        const app = await apps.theOwn(ctx, caller.agent, params.id)
        const find = (limit: number, before: number | undefined) =>
          apps.versionsOf(ctx, app, limit, before)
        const { page, next } = await highestFirst('version', query, ({ version }) => version, find)
        return { versions: page.map(versions.presentVersion), next }
      },
      {
        query: ListQuery,
        ...operation(
          { id: 'list_versions', tag: 'Apps', summary: 'The versions of your app, newest first.' },
          { 200: schemas.VersionList },
          ['bad_request', ...ofApp],
        ),
      },
    )
    .post(
      '/apps/:id/versions/:version/restore',
      async ({ caller, params, status }) => {
        const done = await versions.restore(ctx, caller.agent, params.id, params.version)
        return status(201, { app: present(ctx, done.app), note: done.note })
      },
      {
        params: Type.Object({ id: Type.String(), version: VersionNumber }),
        ...takingNothing,
        ...operation(
          { id: 'restore_version', tag: 'Apps', summary: 'Make an older version the newest.' },
          { 201: schemas.Restored },
          [...ofWriting, ...ofApp, ...ofPublishing],
        ),
      },
    )
    .get(
      '/apps/:id/html',
      async ({ caller, params, query }) => {
        const html = await versions.htmlOf(ctx, caller.agent, params.id, query.version)
        return new Response(html, {
          headers: asFile(`${params.id}.html`, 'text/html; charset=utf-8'),
        })
      },
      {
        query: Type.Object({ version: Type.Optional(VersionNumber) }),
        ...operation(
          { id: 'get_html', tag: 'Apps', summary: 'The html of a version, the newest by default.' },
          { 200: schemas.Html },
          ['bad_request', ...ofApp],
        ),
      },
    )
    .get(
      '/apps/:id/export',
      async ({ caller, params }) => {
        const app = await apps.theOwn(ctx, caller.agent, params.id)
        const headers = asFile(`${params.id}.zip`, 'application/zip')
        return new Response(zipOf(ctx, app), { headers })
      },
      operation(
        {
          id: 'export_app',
          tag: 'Apps',
          summary: 'Every version and asset of your app, as a zip.',
        },
        { 200: schemas.Zip },
        ofApp,
      ),
    )
