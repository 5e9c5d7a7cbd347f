import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { anyMediaSchema, RangeNotSatisfiableSchema } from '../../../core/schema.ts'
import { ApiError } from '../../../errors.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { isSignedPath } from '../../../storage/signed-url.ts'
import { callerAuth } from '../../authentication.ts'
import {
  agentOperation,
  appErrors,
  priceErrors,
  publicOperation,
  writeErrors,
} from '../../operation.ts'
import * as assets from './assets.ts'
import { generateAssets } from './generate-assets.ts'
import { presentAsset, presentAssetList, previewPath } from './present.ts'
import * as schemas from './schemas.ts'
import { readUpload } from './upload.ts'

const assetErrors = [...appErrors, 'assets_off'] as const
const File = anyMediaSchema

/** Returns a file. The headers keep any content from acting as a page. */
const fileResponse = (
  { asset, content }: Awaited<ReturnType<typeof assets.openAsset>>,
  disposition: 'inline' | 'attachment',
  caching: string,
): Response =>
  new Response(content, {
    headers: {
      'content-type': asset.type,
      'content-disposition': `${disposition}; filename="${asset.name}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': caching,
    },
  })

/** Request bodies of an upload, for the description. The route reads the body itself. */
const uploads = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  'application/json': { schema: { ...schemas.UploadEnvelopeSchema, additionalProperties: false } },
} as const

/** Assets of an agent's app (document 1, operations 15 and 16) and its uploads. */
export const assetRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/apps/:id/assets',
      async ({ caller, params }) => {
        const app = await assets.getAppWithAssets(ctx, caller.agent, params.id)
        const rows = await assets.listAssets(ctx, app.id, app.version)
        return presentAssetList(ctx, app, rows, await assets.listMissing(ctx, app, rows))
      },
      agentOperation(
        {
          id: 'list_assets',
          tag: 'Assets',
          mcp: 'shown',
          summary: "List the assets of your app's newest version.",
        },
        { 200: schemas.AssetListSchema },
        assetErrors,
      ),
    )
    .post(
      '/apps/:id/assets',
      async ({ caller, params, body, request, status }) => {
        const ref = idempotencyKeyOf(request, body.ref)
        const result = await generateAssets(ctx, caller, params.id, {
          ...body,
          ...(ref && { ref }),
        })
        return status(result.status, result.body)
      },
      {
        body: schemas.GenerateAssetsSchema,
        ...agentOperation(
          {
            id: 'make_assets',
            tag: 'Assets',
            idempotent: true,
            mcp: 'shown',
            summary: 'Generate sprites, pictures, sounds, voices and music for your app.',
            description:
              'Each asset goes live under its name on the newest version. Each is priced, held and ' +
              'charged by itself; a failed one costs nothing. "waiting" generates the missing ' +
              "assets of the page's data-assets list. The response is 201 when all assets are " +
              'done in time, otherwise 202 with a job.',
          },
          {
            200: schemas.AssetPricesSchema,
            201: schemas.GenerateAssetsResponseSchema,
            202: schemas.GenerateAssetsResponseSchema,
          },
          [
            ...priceErrors,
            ...assetErrors,
            'too_many_assets',
            'no_painter',
            'no_voice',
            ...writeErrors,
          ],
        ),
      },
    )
    .get(
      '/apps/:id/assets/:name',
      async ({ caller, params }) => {
        const found = await assets.openAsset(ctx, caller.agent, params.id, params.name)
        return fileResponse(found, 'attachment', 'private, no-store')
      },
      agentOperation(
        { id: 'get_asset', tag: 'Assets', summary: 'Download an asset of your app.' },
        { 200: File },
        ['bad_request', ...assetErrors],
      ),
    )
    .delete(
      '/apps/:id/assets/:name',
      async ({ caller, params }) => {
        await assets.deleteAsset(ctx, caller.agent, params.id, params.name)
        const note = 'Deleted from the newest version. Older versions keep it.'
        return { name: params.name, note }
      },
      agentOperation(
        { id: 'delete_asset', tag: 'Assets', summary: 'Delete an asset from the newest version.' },
        { 200: schemas.DeletedAssetSchema },
        [...writeErrors, ...assetErrors],
      ),
    )
    .put(
      '/apps/:id/assets/:name',
      async ({ caller, params, request, status }) => {
        const file = await readUpload(request)
        const { asset, isNew } = await assets.putAsset(
          ctx,
          caller.agent,
          params.id,
          params.name,
          file,
        )
        const note = `Stored as ${asset.type} in version ${asset.version}; it is live.`
        return status(isNew ? 201 : 200, { asset: presentAsset(ctx, asset), note })
      },
      agentOperation(
        {
          id: 'put_asset',
          tag: 'Assets',
          input: 'handler',
          mcp: 'shown',
          summary: 'Upload an asset.',
          description:
            'PNG, JPEG, WebP, GIF, MP3, Ogg, WAV or JSON, detected by content and not by name. The ' +
            'file goes live on the newest version and replaces a file of the same name.',
          requestBodies: uploads,
        },
        { 200: schemas.PutAssetResponseSchema, 201: schemas.PutAssetResponseSchema },
        [
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
      ),
    )
    // A signed preview URL needs no key and expires.
    .get(
      '/looks/:id/:version/:name',
      async ({ params, query }) => {
        const { id, version, name } = params
        const path = previewPath(id, version, name)
        if (!isSignedPath(ctx.secret, path, query, ctx.clock.now())) {
          const see = 'Preview URLs expire within the hour: GET /apps/{id}/assets has new ones.'
          throw new ApiError('not_found', { what: 'preview URL', see })
        }
        const found = await assets.openPreview(ctx, id, Number(version), name)
        // A takedown must apply at once, so no cache may serve it.
        return fileResponse(found, 'inline', 'private, no-cache')
      },
      {
        query: Type.Object({
          expires: Type.Optional(Type.String()),
          signature: Type.Optional(Type.String()),
        }),
        ...publicOperation(
          { id: 'look_at_asset', tag: 'Assets', summary: 'Preview an asset by its signed URL.' },
          { 200: File, 206: File, 416: RangeNotSatisfiableSchema },
          ['agents_off', 'assets_off', 'bad_request', ...appErrors],
        ),
      },
    )
