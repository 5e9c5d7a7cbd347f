import { Type } from '@sinclair/typebox'

import { pageHighestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { Content, created, Replay } from '../../kernel/http/outcome.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, publishErrors, writeErrors } from '../../people/operation.ts'
import * as apps from '../apps.ts'
import { startChange } from '../builds/builds.ts'
import { BuildStartedSchema, DryRunSchema } from '../builds/job-data.ts'
import { folderBodies } from '../folders/folder.ts'
import { kinds } from '../kinds.ts'
import { presentApp } from '../present.ts'
import { publishRequestErrors, readVersionRequest } from '../publish-request.ts'
import { compareVersions } from './compare.ts'
import { zipOf } from './export.ts'
import * as schemas from './schemas.ts'
import * as versions from './versions.ts'

const operation = operationsOf('Apps')

/** Headers of a download. A page is saved, never rendered. */
const asFile = (name: string, type: string) => ({
  'content-type': type,
  'content-disposition': `attachment; filename="${name}"`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})

export const publishVersion = operation({
  id: 'publish_version',
  route: 'POST /apps/:id/versions',
  idempotent: true,
  limits: ['publishes_limit', 'builds_limit'],
  mcp: 6,
  showsApp: true,
  summary: 'Publish a new version of your app, from html, files, a patch or a prompt.',
  description:
    'Takes what publish_app takes. The link and the assets of the last version stay; files ' +
    'of a folder replace those of the same name. A patch changes a few lines of the newest ' +
    'version; one that does not fit is patch_conflict with the nearest text. A prompt ' +
    'describes the change: 202 with a job, as for a new app. If the app is on Explore and the ' +
    'new page is not allowed there, visitors keep seeing the old version; note gives the reasons.',
  access: agent,
  input: {
    params: Type.Object({ id: Type.String() }),
    read: readVersionRequest,
    bodies: folderBodies(schemas.PublishVersionSchema),
  },
  output: {
    200: DryRunSchema,
    201: schemas.PublishVersionResponseSchema,
    202: BuildStartedSchema,
  },
  errors: [...appErrors, ...publishRequestErrors, 'patch_conflict'],
  async run(ctx, { caller, params, body: { page, build } }) {
    const result = page
      ? await versions.publishVersion(ctx, caller.agent, params.id, page)
      : await startChange(ctx, caller, params.id, build)
    return new Replay(result)
  },
})

const listVersions = operation({
  id: 'list_versions',
  route: 'GET /apps/:id/versions',
  summary: 'List the versions of your app, newest first.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: schemas.VersionListSchema },
  errors: ['bad_request', ...appErrors],
  async run(ctx, { caller, params, query }) {
    const app = await apps.getOwnApp(ctx, caller.agent, params.id)
    const find = (limit: number, before: number | undefined) =>
      apps.listVersions(ctx, app, limit, before)
    const { page, next } = await pageHighestFirst('version', query, ({ version }) => version, find)
    return { versions: page.map(versions.presentVersion), next }
  },
})

export const restoreVersion = operation({
  id: 'restore_version',
  route: 'POST /apps/:id/versions/:version/restore',
  showsApp: true,
  limits: ['publishes_limit'],
  summary: 'Publish an older version again.',
  access: agent,
  input: {
    params: Type.Object({ id: Type.String(), version: schemas.VersionNumber }),
    body: 'none',
  },
  output: { 201: schemas.RestoreVersionResponseSchema },
  errors: [...writeErrors, ...appErrors, ...publishErrors],
  async run(ctx, { caller, params }) {
    const done = await versions.restoreVersion(ctx, caller.agent, params.id, params.version)
    return created({ app: presentApp(ctx, done.app), note: done.note })
  },
})

const getHtml = operation({
  id: 'get_html',
  route: 'GET /apps/:id/html',
  mcp: 7,
  summary: 'Read the html of a version; the newest by default.',
  access: agent,
  input: { query: Type.Object({ version: Type.Optional(schemas.VersionNumber) }) },
  output: { 200: schemas.HtmlSchema },
  errors: ['bad_request', ...appErrors],
  async run(ctx, { caller, params, query }) {
    const html = await versions.getHtml(ctx, caller.agent, params.id, query.version)
    return new Content(html, asFile(`${params.id}.html`, 'text/html; charset=utf-8'))
  },
})

const diffVersions = operation({
  id: 'diff_versions',
  route: 'GET /apps/:id/diff',
  summary: 'Compare two versions of your app; by default the newest with the one before it.',
  access: agent,
  input: {
    query: Type.Object({
      version: Type.Optional(schemas.VersionNumber),
      base: Type.Optional(schemas.VersionNumber),
    }),
  },
  output: { 200: schemas.VersionDiffSchema },
  errors: ['bad_request', ...appErrors, 'try_again'],
  async run(ctx, { caller, params, query }) {
    const app = await apps.getOwnApp(ctx, caller.agent, params.id)
    const version = query.version ?? app.version
    const base = query.base ?? Math.max(1, version - 1)
    return { base, version, files: await compareVersions(ctx, app, base, version) }
  },
})

const exportApp = operation({
  id: 'export_app',
  route: 'GET /apps/:id/export',
  summary: 'Export every version and asset of your app, skill or framework as a zip.',
  access: agent,
  output: { 200: schemas.ZipSchema },
  errors: appErrors,
  async run(ctx, { caller, params }) {
    const app = await apps.getOwnApp(ctx, caller.agent, params.id, kinds)
    return new Content(zipOf(ctx, app), asFile(`${params.id}.zip`, 'application/zip'))
  },
})

/** Versions of an app: publish, list, read, compare, restore, export. */
export const versionOperations = [
  publishVersion,
  listVersions,
  restoreVersion,
  getHtml,
  diffVersions,
  exportApp,
]
