import type { AppContext } from '../../kernel/context.ts'
import { cacheUntilCommit } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { itemUrl } from '../app-url.ts'
import { namePattern } from '../folders/frontmatter.ts'
import { indexPacksMax } from '../folders/limits.ts'
import { skillFile } from '../folders/read-pack.ts'
import {
  findListedPack,
  listBestPacks,
  type ListedPack,
  listPacksOfMaker,
} from '../listed-packs.ts'

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
export async function getIndexes(ctx: AppContext, handle: string | undefined): Promise<Indexes> {
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
export async function getIndexedPack(
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
