import { Elysia } from 'elysia'

import type { AppContext } from '../../kernel/context.ts'
import { cacheUntilCommit } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Revalidated } from '../../kernel/http/outcome.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { checkAgentsOn, findReader } from '../../people/authentication.ts'
import { namePattern } from '../folders/frontmatter.ts'
import { indexPacksMax } from '../folders/limits.ts'
import { skillFile } from '../folders/read-pack.ts'
import { itemUrl, type PackKind } from '../kinds.ts'
import { findListedPack, listBestPacks, type ListedPack, listPacksOfMaker } from '../listings.ts'
import { type PackRead, readArchive, readFlatArchive, readPackFile, splitEnding } from './packs.ts'

/** One entry of Agent Skills Discovery 0.2.0. */
interface IndexEntry {
  name: string
  description: string
  type: 'skill-md' | 'archive'
  url: string
  digest: string
}

/** The index of Agent Skills Discovery 0.2.0, and that of 0.1.0. */
interface Indexes {
  current: { $schema: string; skills: IndexEntry[] }
  legacy: { skills: { name: string; description: string; files: string[] }[] }
}

const schema = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'

const indexes = cacheUntilCommit<Indexes>(50)

/**
 * Returns the indexes for installers: all packs of a maker, or one of each name. Throws `not_found`
 * for an unknown maker.
 */
async function getIndexes(ctx: AppContext, handle: string | undefined): Promise<Indexes> {
  const maker = await makerOf(ctx, handle)
  return indexes(ctx.db, maker ?? '', async () => {
    const packs =
      maker === undefined
        ? await listBestPacks(ctx, indexPacksMax)
        : await listPacksOfMaker(ctx, maker, indexPacksMax)
    const shown = onePerName(packs).slice(0, indexPacksMax)
    return {
      current: { $schema: schema, skills: shown.map((pack) => entryOf(ctx, pack)) },
      legacy: { skills: shown.map(legacyEntryOf) },
    }
  })
}

async function makerOf(ctx: AppContext, handle: string | undefined): Promise<string | undefined> {
  if (handle === undefined) return undefined
  const maker = await findByMention(ctx, handle)
  if (maker && maker.closed === null) return maker.id
  throw new ApiError('not_found', { what: 'maker on Explore', see: 'GET /explore.' })
}

/** Orders packs by name and keeps the one with the best record of each, then the oldest. */
function onePerName(packs: ListedPack[]): ListedPack[] {
  const first = new Map<string, ListedPack>()
  for (const pack of packs) {
    const known = first.get(pack.item.name ?? '')
    if (!known || isBefore(pack, known)) first.set(pack.item.name ?? '', pack)
  }
  return [...first].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, pack]) => pack)
}

const isBefore = ({ item: a }: ListedPack, { item: b }: ListedPack): boolean =>
  a.successLow === b.successLow
    ? (a.listedAt ?? 0) < (b.listedAt ?? 0)
    : a.successLow > b.successLow

/** The digest is that of the artifact. Its URL names the version, so the two always match. */
function entryOf(ctx: AppContext, { item, row, folder }: ListedPack): IndexEntry {
  const [skill] = folder.files
  const isOneFile = folder.files.length === 1
  const file = isOneFile ? skillFile : 'archive.tar.gz'
  return {
    name: item.name ?? '',
    description: folder.description,
    type: isOneFile ? 'skill-md' : 'archive',
    url: `${itemUrl(ctx, item)}/${file}?version=${row.version}`,
    digest: `sha256:${isOneFile ? skill?.sha256 : folder.archive}`,
  }
}

const legacyEntryOf = ({ item, folder }: ListedPack) => ({
  name: item.name ?? '',
  description: folder.description,
  files: folder.files.map(({ path }) => path),
})

/** Returns the pack of a name in an index. Throws `not_found`. */
async function getIndexedPack(
  ctx: AppContext,
  handle: string | undefined,
  name: string,
): Promise<ListedPack> {
  const maker = await makerOf(ctx, handle)
  // PostgreSQL fails on a NUL.
  const found = namePattern.test(name) ? await findListedPack(ctx, name, maker) : undefined
  if (found) return found
  throw new ApiError('not_found', { what: 'skill', see: 'The index.json lists what is there.' })
}

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
