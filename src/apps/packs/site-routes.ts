import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import type { Revalidated } from '../../kernel/http/outcome.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { checkAgentsOn, findReader } from '../../people/authentication.ts'
import { skillFile } from '../folders/read-pack.ts'
import type { PackKind } from '../kinds.ts'
import { getIndexedPack, getIndexes } from './discovery.ts'
import { type PackRead, readArchive, readFlatArchive, readPackFile, splitEnding } from './serve.ts'

/** Programs of all origins may read what is public. */
const open = { 'cache-control': 'no-cache', 'access-control-allow-origin': '*' }

const json = (value: unknown): Response => Response.json(value, { headers: open })

/** Public links of packs, and the indexes that installers of skills read. */
export const packSite = (ctx: AppContext) =>
  new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .use(linkRoutes(ctx, 'skill'))
    .use(linkRoutes(ctx, 'framework'))
    .use(indexRoutes(ctx, ''))
    .use(indexRoutes(ctx, '/@:handle'))

/** `<link>` opens the page, `<link>.tar.gz` and `<link>.zip` are the folder. */
const linkRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .get(`/${kind}s/:id`, async ({ params, request }) => {
      const { id, ending } = splitEnding(params.id)
      return ending
        ? serve(ctx, kind, id, request, async (read) => readArchive(ctx, read, ending))
        : Response.redirect(`/explore/${encodeURIComponent(id)}`, 302)
    })
    .get(`/${kind}s/:id/archive.tar.gz`, ({ params: { id }, request }) =>
      serve(ctx, kind, id, request, async (read) => readFlatArchive(ctx, read)),
    )
    .get(`/${kind}s/:id/SKILL.md`, ({ params: { id }, request }) =>
      serve(ctx, kind, id, request, async (read) => readPackFile(ctx, read, skillFile)),
    )
    .get(`/${kind}s/:id/files/*`, ({ params: { id, '*': path }, request }) =>
      serve(ctx, kind, id, request, async (read) => readPackFile(ctx, read, path)),
    )

/** Responds with what `read` returns of a pack, or of a version of it (`?version=`). */
async function serve(
  ctx: AppContext,
  kind: PackKind,
  id: string,
  request: Request,
  read: (pack: PackRead) => Promise<Revalidated>,
): Promise<Response> {
  const number = Number(new URL(request.url).searchParams.get('version') ?? undefined)
  const version = Number.isInteger(number) ? { version: number } : {}
  const sender = senderOf(request)
  const { client } = sender.context
  const reader = await findReader(ctx, sender)
  return toResponse(ctx, request, await read({ id, kind, client, reader, ...version }))
}

/** Agent Skills Discovery 0.2.0 and 0.1.0, of the server or of one maker. */
const indexRoutes = (ctx: AppContext, base: '' | '/@:handle') =>
  new Elysia()
    .get(`${base}/.well-known/agent-skills/index.json`, async ({ params }) =>
      json((await getIndexes(ctx, handleOf(params))).current),
    )
    .get(`${base}/.well-known/skills/index.json`, async ({ params }) =>
      json((await getIndexes(ctx, handleOf(params))).legacy),
    )
    .get(`${base}/.well-known/agent-skills/:name/*`, ({ params, request }) =>
      serveIndexed(ctx, params, request),
    )
    .get(`${base}/.well-known/skills/:name/*`, ({ params, request }) =>
      serveIndexed(ctx, params, request),
    )

/** Elysia has no params where a path has none. */
const handleOf = (params: object | undefined): string | undefined =>
  params && 'handle' in params ? String(params.handle) : undefined

async function serveIndexed(
  ctx: AppContext,
  params: { name: string; '*': string },
  request: Request,
): Promise<Response> {
  const { item } = await getIndexedPack(ctx, handleOf(params), params.name)
  const kind = item.kind === 'framework' ? 'framework' : 'skill'
  const { client } = getRequestContext(request)
  const read = { id: item.id, kind, client, reader: undefined } as const
  return toResponse(ctx, request, await readPackFile(ctx, read, params['*']))
}
