import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { checkPath } from '../../../core/path.ts'
import { BehindEnd, Media } from '../../../core/schema.ts'
import { taking } from '../../../core/taking.ts'
import { ApiError } from '../../../errors.ts'
import { refOf } from '../../../idempotency/idempotency.ts'
import { isSignedPath } from '../../../storage/signed-url.ts'
import { theCaller, withKey, withoutKey } from '../../key.ts'
import { ofApp, ofPaying, ofRef, ofWriting, openOperation, operation } from '../../operation.ts'
import * as assets from './assets.ts'
import { ask } from './generate-assets.ts'
import { lookPath, present, presentList } from './present.ts'
import * as schemas from './schemas.ts'
import { readUpload } from './upload.ts'

const ofAssets = [...ofApp, 'assets_off'] as const
const File = Media('*/*')

/**
 * A file with the type its content has and nothing that could make it a page: what hides inside a
 * picture or a JSON text stays a picture or a text (see store/kinds.ts).
 */
const fileAnswer = (
  { asset, content }: Awaited<ReturnType<typeof assets.theBytes>>,
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
        const app = await assets.theApp(ctx, caller.agent, params.id)
        const rows = await assets.rowsOf(ctx, app.id, app.version)
        return presentList(ctx, app, rows, await assets.waitingOf(ctx, app, rows))
      },
      operation(
        { id: 'list_assets', tag: 'Assets', summary: "The files of your app's newest version." },
        { 200: schemas.AssetList },
        ofAssets,
      ),
    )
    .post(
      '/apps/:id/assets',
      async ({ caller, params, body, request, status }) => {
        const ref = refOf(request, body.ref)
        const answer = await ask(ctx, caller, params.id, { ...body, ...(ref && { ref }) })
        return status(answer.status, answer.body)
      },
      {
        ...taking(schemas.MakeAssets),
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
          { 200: schemas.AssetPrices, 201: schemas.MadeAssets, 202: schemas.MadeAssets },
          [
            ...ofPaying,
            ...ofRef,
            ...ofAssets,
            'too_many_assets',
            'no_painter',
            'no_voice',
            ...ofWriting,
          ],
        ),
      },
    )
    .get(
      '/apps/:id/assets/:name',
      async ({ caller, params }) => {
        const found = await assets.theBytes(ctx, caller.agent, params.id, params.name)
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
        await assets.remove(ctx, caller.agent, params.id, params.name)
        const note = 'The newest version has it no more. Older versions keep theirs.'
        return { name: params.name, note }
      },
      operation(
        { id: 'delete_asset', tag: 'Assets', summary: 'Take a file off the newest version.' },
        { 200: schemas.AssetGone },
        [...ofWriting, ...ofAssets],
      ),
    )

/** What `readUpload` takes, for the description: the body is read by hand. */
const uploads = {
  'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
  'application/json': { schema: { ...schemas.Envelope, additionalProperties: false } },
} as const

/** The key is checked before the body is read, as `withKey` does; the body here is a file. */
const uploadRoutes = (ctx: AppContext) =>
  new Elysia()
    .onParse(async ({ request }) => {
      await theCaller(ctx, request)
      return readUpload(request)
    })
    .derive(async ({ request, params }) => {
      const caller = await theCaller(ctx, request)
      checkPath(params)
      return { caller }
    })
    .put(
      '/apps/:id/assets/:name',
      async ({ caller, params, body, status }) => {
        const file = body instanceof Uint8Array ? body : new Uint8Array()
        const { asset, isNew } = await assets.put(ctx, caller.agent, params.id, params.name, file)
        const note = `Kept as ${asset.type} in version ${asset.version}, live at once.`
        return status(isNew ? 201 : 200, { asset: present(ctx, asset), note })
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
        { 200: schemas.AssetKept, 201: schemas.AssetKept },
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
      const path = lookPath(id, version, name)
      if (!isSignedPath(ctx.secret, path, query, ctx.clock.now())) {
        const see = 'They stop working within the hour: GET /apps/{id}/assets has new ones.'
        throw new ApiError('not_found', { what: 'look address', see })
      }
      const found = await assets.lookAt(ctx, id, Number(version), name)
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
        ['agents_off', 'assets_off', ...ofApp],
      ),
    },
  )
