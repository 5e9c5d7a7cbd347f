import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Content, created, Replay } from '../../kernel/http/outcome.ts'
import { assetBytesMax, previewLinkMs } from '../../kernel/limits.ts'
import { anyMediaSchema, RangeNotSatisfiableSchema } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { agent, agentKey, anyone } from '../../people/authentication.ts'
import { appErrors, operationsOf, priceErrors, writeErrors } from '../../people/operation.ts'
import { isSignedPath, signPath } from '../../store/signed-url.ts'
import type { App } from '../apps.ts'
import * as assets from './assets.ts'
import type { Asset, FileLimits } from './assets.ts'
import { generateAssets } from './generate-assets.ts'
import * as schemas from './schemas.ts'
import type { AssetBody, AssetList } from './schemas.ts'
import { readUpload } from './upload.ts'

const operation = operationsOf('Assets')

const assetErrors = [...appErrors, 'assets_off'] as const
const File = anyMediaSchema

/** Returns a file. The headers keep any content from acting as a page. */
const asFile = (
  { asset, content }: Awaited<ReturnType<typeof assets.openAsset>>,
  disposition: 'inline' | 'attachment',
  caching: string,
): Content =>
  new Content(content, {
    'content-type': asset.type,
    'content-disposition': `${disposition}; filename="${asset.name}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': caching,
  })

/** Bodies of an upload, for the description. */
const uploads = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  'application/json': { schema: { ...schemas.UploadEnvelopeSchema, additionalProperties: false } },
} as const

const listAssets = operation({
  id: 'list_assets',
  route: 'GET /apps/:id/assets',
  mcp: 'shown',
  summary: "List the assets of your app's newest version.",
  access: agent,
  output: { 200: schemas.AssetListSchema },
  errors: assetErrors,
  async run(ctx, { caller, params }) {
    const app = await assets.getAppWithAssets(ctx, caller.agent, params.id)
    return presentAssetList(ctx, app, await assets.readList(ctx, app))
  },
})

const makeAssets = operation({
  id: 'make_assets',
  route: 'POST /apps/:id/assets',
  scope: 'spend',
  idempotent: true,
  mcp: 'shown',
  summary: 'Generate sprites, pictures, sounds, voices and music for your app.',
  description:
    'Each asset goes live under its name on the newest version. Each is priced, held and ' +
    'charged by itself; a failed one costs nothing. "waiting" generates the missing ' +
    "assets of the page's data-assets list. The response is 201 when all assets are " +
    'done in time, otherwise 202 with a job.',
  access: agentKey,
  input: { body: schemas.GenerateAssetsSchema },
  output: {
    200: schemas.AssetPricesSchema,
    201: schemas.GenerateAssetsResponseSchema,
    202: schemas.GenerateAssetsResponseSchema,
  },
  errors: [
    ...priceErrors,
    ...assetErrors,
    'too_many_assets',
    'no_painter',
    'no_voice',
    ...writeErrors,
  ],
  async run(ctx, { caller, params, body, ref }) {
    const result = await generateAssets(ctx, caller, params.id, {
      ...body,
      ...(ref && { ref }),
    })
    return new Replay(result)
  },
})

const getAsset = operation({
  id: 'get_asset',
  route: 'GET /apps/:id/assets/:name',
  summary: 'Download an asset of your app.',
  access: agent,
  output: { 200: File },
  errors: ['bad_request', ...assetErrors],
  async run(ctx, { caller, params }) {
    const found = await assets.openAsset(ctx, caller.agent, params.id, params.name)
    return asFile(found, 'attachment', 'private, no-store')
  },
})

export const deleteAsset = operation({
  id: 'delete_asset',
  route: 'DELETE /apps/:id/assets/:name',
  summary: 'Delete an asset from the newest version.',
  access: agent,
  output: { 200: schemas.DeletedAssetSchema },
  errors: [...writeErrors, ...assetErrors],
  async run(ctx, { caller, params }) {
    await assets.deleteAsset(ctx, caller.agent, params.id, params.name)
    const note = 'Deleted from the newest version. Older versions keep it.'
    return { name: params.name, note }
  },
})

export const putAsset = operation({
  id: 'put_asset',
  route: 'PUT /apps/:id/assets/:name',
  mcp: 'shown',
  summary: 'Upload an asset.',
  description:
    'PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, M4A, WebM audio or JSON, detected by content and not ' +
    'by name. The file goes live on the newest version and replaces a file of the same name.',
  access: agent,
  input: { read: readUpload, bodies: uploads },
  output: { 200: schemas.PutAssetResponseSchema, 201: schemas.PutAssetResponseSchema },
  errors: [
    'bad_request',
    'asset_too_large',
    'bad_asset',
    'too_many_assets',
    'assets_full',
    'storage_full',
    'busy',
    'try_again',
    ...assetErrors,
  ],
  async run(ctx, { caller, params: { id, name }, body: file }) {
    const { asset, isNew } = await assets.putAsset(ctx, caller.agent, id, name, file)
    const note = `Stored as ${asset.type} in version ${asset.version}; it is live.`
    const response = { asset: presentAsset(ctx, asset), note }
    return isNew ? created(response) : response
  },
})

const lookAtAsset = operation({
  id: 'look_at_asset',
  route: 'GET /looks/:id/:version/:name',
  summary: 'Preview an asset by its signed URL.',
  access: anyone,
  input: {
    query: Type.Object({
      expires: Type.Optional(Type.String()),
      signature: Type.Optional(Type.String()),
    }),
  },
  output: { 200: File, 206: File, 416: RangeNotSatisfiableSchema },
  errors: ['agents_off', 'assets_off', 'bad_request', ...appErrors],
  async run(ctx, { params, query }) {
    const { id, version, name } = params
    const path = previewPath(id, version, name)
    if (!isSignedPath(ctx.secret, path, query, ctx.clock.now())) {
      const see = 'Preview URLs expire within the hour: GET /apps/{id}/assets has new ones.'
      throw new ApiError('not_found', { what: 'preview URL', see })
    }
    const found = await assets.openPreview(ctx, id, Number(version), name)
    // A takedown must apply at once, so no cache may serve it.
    return asFile(found, 'inline', 'private, no-cache')
  },
})

/** Assets of an agent's app (document 1, operations 15 and 16) and its uploads. */
export const assetOperations = [
  listAssets,
  makeAssets,
  getAsset,
  deleteAsset,
  putAsset,
  lookAtAsset,
]

/** Returns the path of a preview URL inside the API, as it is signed. */
const previewPath = (app: string, version: number | string, name: string): string =>
  `/looks/${app}/${version}/${encodeURIComponent(name)}`

/** Returns an asset in wire format, with a preview URL that expires within the hour. */
export function presentAsset(ctx: AppContext, row: Asset): AssetBody {
  const { name, kind, type, bytes, sha256, width, height, lastsMs, what, seed, maker } = row
  const path = previewPath(row.app, row.version, name)
  return {
    name,
    kind,
    type,
    bytes,
    sha256,
    ...(width !== null && { width }),
    ...(height !== null && { height }),
    ...(lastsMs !== null && { seconds: lastsMs / 1_000 }),
    ...(what !== null && { what }),
    ...(seed !== null && { seed }),
    maker,
    url: ctx.urls.base + signPath(ctx.secret, path, ctx.clock.now() + previewLinkMs),
    created: iso(row.created),
  }
}

/** Returns the asset list of an app (document 1, operation 15). */
export function presentAssetList(
  ctx: AppContext,
  app: App,
  { rows, waiting, limits }: Pick<AssetList, 'waiting'> & { rows: Asset[]; limits: FileLimits },
): AssetList {
  return {
    version: app.version,
    assets: rows.map((row) => presentAsset(ctx, row)),
    waiting: waiting.map(({ name, kind, what }) => ({ name, kind, what })),
    limits: {
      fileBytes: assetBytesMax,
      files: limits.files,
      appBytes: limits.bytes,
    },
    used: { files: rows.length, bytes: rows.reduce((sum, row) => sum + row.bytes, 0) },
    note:
      'In the page: await service.assets.ready, then service.assets.url(name). ' +
      'The URLs here are previews and expire within the hour.',
  }
}
