/**
 * Skills over MCP: the extension of SEP-2640, in the stable text of September 2026. Its addresses
 * end in the name of a skill, and those of packs.ts in its id.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'

import { readFrontmatter } from '../../apps/folders/frontmatter.ts'
import { skillFile } from '../../apps/folders/read-pack.ts'
import { getListedPack, type ReadablePack, readFile } from '../../apps/packs/packs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { decodePath, encodePath } from '../../kernel/http/path.ts'
import type { Json } from '../../kernel/schema.ts'

export const skillsExtension = 'io.modelcontextprotocol/skills'

/** Cacheable results of the newer revision. */
export const caching = { ttlMs: 60_000, cacheScope: 'public' as const }

/** No pack has this id. */
const base = 'skill://packs/'

/** A file of a skill by its address. */
interface SkillFile {
  id: string
  name: string
  path: string
}

/** The files of a skill with their digests, and the fields of its SKILL.md. */
interface SkillEntry {
  uri: string
  frontmatter: Json
  resources: { uri: string; digest: string; size: number }[]
}

/** Returns the parts of an address; undefined for any other one. */
export function parseSkillUri(uri: string): SkillFile | undefined {
  if (!uri.startsWith(base)) return undefined
  const [id = '', name = '', ...rest] = uri.slice(base.length).split('/').map(decodePath)
  if (id === null || name === null || rest.includes(null)) return undefined
  return { id, name, path: rest.join('/') }
}

/** Returns the pack of an address. Throws `not_found` and `taken_down`. */
export async function getSkill(
  ctx: AppContext,
  { id, name }: Pick<SkillFile, 'id' | 'name'>,
): Promise<ReadablePack> {
  const pack = await getListedPack(ctx, id)
  if (pack.item.name === name) return pack
  throw new ApiError('not_found', { what: 'skill' })
}

/** Returns the entry of a pack that is on Explore; undefined once it is no longer. */
export async function findSkill(ctx: AppContext, id: string): Promise<SkillEntry | undefined> {
  try {
    return await entryOf(ctx, await getListedPack(ctx, id))
  } catch (error) {
    if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) return undefined
    throw error
  }
}

/** Reads the entry of a skill by the address of its SKILL.md. Throws InvalidParams. */
export async function readSkill(ctx: AppContext, uri: string): Promise<SkillEntry> {
  const address = parseSkillUri(uri)
  const skill = address?.path === skillFile ? await findSkill(ctx, address.id) : undefined
  if (skill?.uri === uri) return skill
  const message = 'No skill has this address. List the skills with skills/list.'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

async function entryOf(ctx: AppContext, { item, row, folder }: ReadablePack): Promise<SkillEntry> {
  const uriOf = (path: string): string => `${base}${item.id}/${item.name}/${encodePath(path)}`
  const text = new TextDecoder().decode(await readFile(ctx, row, skillFile))
  return {
    uri: uriOf(skillFile),
    frontmatter: await readFrontmatter(text),
    resources: folder.files.map(({ path, bytes, sha256 }) => ({
      uri: uriOf(path),
      digest: `sha256:${sha256}`,
      size: bytes,
    })),
  }
}
