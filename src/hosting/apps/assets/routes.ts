import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { checkPath } from '../../../core/path.ts'
import { BehindEnd, Media } from '../../../core/schema.ts'
import { taking } from '../../../http/validation.ts'
import { ApiError } from '../../../errors.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { isSignedPath } from '../../../storage/signed-url.ts'
import { getCaller, withKey, withoutKey } from '../../authentication.ts'
import { appErrors, paymentErrors, idempotencyErrors, writeErrors, openOperation, operation } from '../../operation.ts'
import * as assets from './assets.ts'
import { ask } from './generate-assets.ts'
import { previewPath, presentAsset, presentAssetList } from './present.ts'
import * as schemas from './schemas.ts'
import { readUpload } from './upload.ts'

const ofAssets = [...appErrors, 'assets_off'] as const
const File = Media('*/*')

/**
 * A file with the type its content has and nothing that could make it a page: what hides inside a
 * picture or a JSON text stays a picture or a text (see store/kinds.ts).
 */
const fileAnswer = (
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

/** Assets of an agent's app (document 1, operation 15) and of its own uploads. */
export const assetRoutes = (ctx: AppContext) =>
  new Elysia().use(ownRoutes(ctx)).use(uploadRoutes(ctx)).use(lookRoutes(ctx))

const ownRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/apps/:id/assets',
      async ({ caller, params }) => {
        const app = await assets.getAppWithAssets(ctx, caller.agent, params.id)
        const rows = await assets.listAssets(ctx, app.id, app.version)
        return presentAssetList(ctx, app, rows, await assets.listMissing(ctx, app, rows))
      },
      operation(
        { id: 'list_assets', tag: 'Assets', summary: "The files of your app's newest version." },
        { 200: schemas.AssetListSchema },
        ofAssets,
      ),
    )
    .post(
      '/apps/:id/assets',
      async ({ caller, params, body, request, status }) => {
        const ref = idempotencyKeyOf(request, body.ref)
        const answer = await ask(ctx, caller, params.id, { ...body, ...(ref && { ref }) })
        return status(answer.status, answer.body)
      },
      {
        ...taking(schemas.GenerateAssetsSchema),
        ...operation(
          {
            id: 'make_assets',
            tag: 'Assets',
            summary: 'Have sprites, pictures, sounds, voices and music made for your app.',
            more:
              'Each is kept under its name on the newest version, live at once, and is priced, held ' +
              'and charged on its own; what fails costs nothing. "waiting" makes all that the page ' +
              'asks for in its data-assets list and does not have. The answer is 201 when all was ' +
              'made meanwhile, else 202 with a job.',
          },
          { 200: schemas.AssetPricesSchema, 201: schemas.GenerateAssetsResponseSchema, 202: schemas.GenerateAssetsResponseSchema },
          [
            ...paymentErrors,
            ...idempotencyErrors,
            ...ofAssets,
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
        return fileAnswer(found, 'attachment', 'private, no-store')
      },
      operation(
        { id: 'get_asset', tag: 'Assets', summary: 'The bytes of a file of your app.' },
        { 200: File },
        ['bad_request', ...ofAssets],
      ),
    )
    .delete(
      '/apps/:id/assets/:name',
      async ({ caller, params }) => {
        await assets.deleteAsset(ctx, caller.agent, params.id, params.name)
        const note = 'The newest version has it no more. Older versions keep theirs.'
        return { name: params.name, note }
      },
      operation(
        { id: 'delete_asset', tag: 'Assets', summary: 'Take a file off the newest version.' },
        { 200: schemas.DeletedAssetSchema },
        [...writeErrors, ...ofAssets],
      ),
    )

/** What `readUpload` takes, for the description: the body is read by hand. */
const uploads = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  'application/json': { schema: { ...schemas.UploadEnvelopeSchema, additionalProperties: false } },
} as const

/** The key is checked before the body is read, as `withKey` does; the body here is a file. */
const uploadRoutes = (ctx: AppContext) =>
  new Elysia()
    .onParse(async ({ request }) => {
      await getCaller(ctx, request)
      return readUpload(request)
    })
    .derive(async ({ request, params }) => {
      const caller = await getCaller(ctx, request)
      checkPath(params)
      return { caller }
    })
    .put(
      '/apps/:id/assets/:name',
      async ({ caller, params, body, status }) => {
        const file = body instanceof Uint8Array ? body : new Uint8Array()
        const { asset, isNew } = await assets.putAsset(ctx, caller.agent, params.id, params.name, file)
        const note = `Kept as ${asset.type} in version ${asset.version}, live at once.`
        return status(isNew ? 201 : 200, { asset: presentAsset(ctx, asset), note })
      },
      operation(
        {
          id: 'put_asset',
          tag: 'Assets',
          summary: 'Keep a file of your own.',
          more:
            'PNG, JPEG, WebP, GIF, MP3, Ogg, WAV or JSON, told by the content, never by the name. ' +
            'It belongs to the newest version and is live at once; a file of that name is replaced.',
          takes: uploads,
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
          ...ofAssets,
        ],
      ),
    )

/** Look addresses: whoever holds one may look, without a key, until it stops working. */
const lookRoutes = (ctx: AppContext) =>
  new Elysia().use(withoutKey(ctx)).get(
    '/looks/:id/:version/:name',
    async ({ params, query }) => {
      const { id, version, name } = params
      const path = previewPath(id, version, name)
      if (!isSignedPath(ctx.secret, path, query, ctx.clock.now())) {
        const see = 'They stop working within the hour: GET /apps/{id}/assets has new ones.'
        throw new ApiError('not_found', { what: 'look address', see })
      }
      const found = await assets.openPreview(ctx, id, Number(version), name)
      // No cache may show it after a takedown.
      return fileAnswer(found, 'inline', 'private, no-cache')
    },
    {
      query: Type.Object({
        expires: Type.Optional(Type.String()),
        signature: Type.Optional(Type.String()),
      }),
      ...openOperation(
        { id: 'look_at_asset', tag: 'Assets', summary: 'Look at an asset by its signed address.' },
        { 200: File, 206: File, 416: BehindEnd },
        ['agents_off', 'assets_off', ...appErrors],
      ),
    },
  )
