import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  specTypeSchemas,
} from '@modelcontextprotocol/server'

import { listItems } from '../../apps/explore/explore.ts'
import type { Item } from '../../apps/explore/schemas.ts'
import { readFrontmatter } from '../../apps/folders/frontmatter.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import { packKinds } from '../../apps/kinds.ts'
import { findListedPack, type ListedPack } from '../../apps/listings.ts'
import { getListedPack, type ReadablePack, readFile } from '../../apps/packs/packs.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { decodePath, encodePath } from '../../kernel/http/path.ts'
import { getRequestContext } from '../../kernel/http/request-context.ts'
import { listPageMax } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { findBatch, spentMessage } from './batch.ts'
import { keyHeaders } from './call.ts'
import { readView, viewTemplate } from './views.ts'

/**
 * Skills over MCP: the extension of SEP-2640, in the stable text of September 2026. The folder of
 * a skill ends in its name. Older addresses, `skill://<id>/<path>`, can be read as well.
 */
const skillsExtension = 'io.modelcontextprotocol/skills'

/** Cacheable results of the newer revision. */
const caching = { ttlMs: 60_000, cacheScope: 'public' as const }

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
function parseSkillUri(uri: string): SkillFile | undefined {
  if (!uri.startsWith(base)) return undefined
  const [id = '', name = '', ...rest] = uri.slice(base.length).split('/').map(decodePath)
  if (id === null || name === null || rest.includes(null)) return undefined
  return { id, name, path: rest.join('/') }
}

/** Returns the pack of an address. Throws `not_found` and `taken_down`. */
async function getSkill(
  ctx: AppContext,
  { id, name }: Pick<SkillFile, 'id' | 'name'>,
): Promise<ReadablePack> {
  const pack = await getListedPack(ctx, id)
  if (pack.item.name === name) return pack
  throw new ApiError('not_found', { what: 'skill' })
}

/** Returns the entry of a pack that is on Explore; undefined once it is no longer. */
async function findSkill(ctx: AppContext, id: string): Promise<SkillEntry | undefined> {
  try {
    return await entryOf(ctx, await getListedPack(ctx, id))
  } catch (error) {
    if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) return undefined
    throw error
  }
}

/** Reads the entry of a skill by the address of its SKILL.md. Throws InvalidParams. */
async function readSkill(ctx: AppContext, uri: string): Promise<SkillEntry> {
  const address = parseSkillUri(uri)
  const skill = address?.path === skillFile ? await findSkill(ctx, address.id) : undefined
  if (skill?.uri === uri) return skill
  const message = 'No skill has this address. List the skills with skills/list.'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

async function entryOf(ctx: AppContext, { item, row, folder }: ReadablePack): Promise<SkillEntry> {
  const text = new TextDecoder().decode(await readFile(ctx, row, skillFile))
  return {
    uri: uriOf(item),
    frontmatter: await readFrontmatter(text),
    resources: folder.files.map(({ path, bytes, sha256 }) => ({
      uri: uriOf(item, path),
      digest: `sha256:${sha256}`,
      size: bytes,
    })),
  }
}

const markdown = 'text/markdown'

/** Returns the address of a file of a pack, whose kind has a name. */
const uriOf = ({ id, name }: { id: string; name?: string | null }, path = skillFile): string =>
  `${base}${id}/${name}/${encodePath(path)}`

/** Returns a page of packs on Explore: skills, newest first, and then frameworks. */
async function listPacks(ctx: AppContext, cursor = 'skill:') {
  const kind = packKinds.find((known) => cursor.startsWith(`${known}:`))
  const after = cursor.slice(cursor.indexOf(':') + 1)
  const query = { limit: listPageMax, ...(after !== '' && { cursor: after }) }
  const { items, next } = await listItems(ctx, { ...query, kind: kind ?? 'skill' }).catch(
    (error: unknown) => {
      throw isApiError(error, 'bad_request') ? invalidCursor() : error
    },
  )
  if (kind === undefined) throw invalidCursor()
  const nextCursor = next !== null ? `${kind}:${next}` : kind === 'skill' ? 'framework:' : undefined
  return { items, nextCursor: nextCursor === undefined ? {} : { nextCursor } }
}

const invalidCursor = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'This cursor is invalid.')

/** Returns a pack as SEP-2640 has its SKILL.md in a list. */
const resourceOf = (item: Item) => ({
  uri: uriOf(item),
  name: item.name ?? item.title,
  title: `${item.title} by ${item.maker}`,
  description: item.description,
  mimeType: markdown,
})

const task = { name: 'task', description: 'What to do with these instructions.', required: false }

const promptOf = ({ name, title, description, maker }: Item) => ({
  name: `${maker.slice(1)}.${name ?? title}`,
  title,
  description,
  arguments: [task],
})

const packTemplate = {
  name: 'pack-file',
  title: 'File of a pack',
  uriTemplate: `${base}{id}/{name}/{+path}`,
}

/** Reads a file of a pack by either of its addresses. Throws `not_found` and `taken_down`. */
async function readResource(
  ctx: AppContext,
  uri: string,
): Promise<{ path: string; bytes: Uint8Array }> {
  const skill = parseSkillUri(uri)
  const [, id = '', encoded = ''] = /^skill:\/\/([^/]+)\/(.+)$/.exec(uri) ?? []
  const path = skill ? skill.path : decodePath(encoded)
  const { row } = await (skill ? getSkill(ctx, skill) : getListedPack(ctx, id))
  if (path === null) throw new ApiError('not_found', { what: 'file' })
  return { path, bytes: await readFile(ctx, row, path) }
}

/** Finds the pack of a prompt: "<handle>.<name>". */
async function findPrompt(ctx: AppContext, name: string): Promise<ListedPack> {
  const [handle = '', pack = ''] = name.split('.')
  const maker = await findByMention(ctx, handle)
  const found = maker && (await findListedPack(ctx, pack, maker.id))
  if (found) return found
  const message = 'This prompt does not exist. List the prompts with prompts/list.'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

/** Returns the instructions, the addresses of the other files, and the task. */
async function promptText(
  ctx: AppContext,
  { item, row, folder }: ListedPack,
  todo: string | undefined,
): Promise<string> {
  const text = new TextDecoder().decode(await readFile(ctx, row, skillFile))
  const others = folder.files.filter(({ path }) => path !== skillFile)
  const list = others.map(({ path }) => `- ${uriOf(item, path)}`).join('\n')
  return [text.trim(), list && `Other files:\n${list}`, todo].filter(Boolean).join('\n\n')
}

// With the schema of its parameters, a method answers invalid ones with InvalidParams. Without it
// the library calls them an internal error.
const pageParams = { params: specTypeSchemas.PaginatedRequestParams }
const resourceParams = { params: specTypeSchemas.ReadResourceRequestParams }
const promptParams = { params: specTypeSchemas.GetPromptRequestParams }

/** Keeps a byte order mark, so that a text has the digest of its file. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Serves the packs on Explore as resources (`skill://packs/<id>/<name>/SKILL.md`) and as prompts,
 * so that a client loads one without a tool call. Also serves packs by the skills extension
 * (SEP-2640), and apps as views (`ui://berth/<id>`).
 */
export function serveResources(
  ctx: AppContext,
  pages: Pages,
  { server }: McpServer,
  request?: Request,
): void {
  const spend = (text: string): string => {
    const batch = request && findBatch(request)
    if (batch && !batch.spend(text.length)) throw new ProtocolError(-32_000, spentMessage)
    return text
  }
  serveSkills(ctx, server, spend)
  server.registerCapabilities({ resources: {}, prompts: {} })
  server.setRequestHandler('resources/list', pageParams, async ({ cursor }) => {
    const { items, nextCursor } = await listPacks(ctx, cursor)
    return { resources: items.map(resourceOf), ...nextCursor }
  })
  server.setRequestHandler('resources/templates/list', pageParams, () => ({
    resourceTemplates: [packTemplate, viewTemplate],
  }))
  server.setRequestHandler('resources/read', resourceParams, async ({ uri }) => {
    if (uri.startsWith('ui://') && request) {
      const headers = new Headers(keyHeaders(request, {}))
      const view = await readView(ctx, pages, uri, { headers, context: getRequestContext(request) })
      spend(view.text)
      return { contents: [view] }
    }
    const { path, bytes } = await readResource(ctx, uri).catch((error: unknown) => {
      if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) {
        throw new ResourceNotFoundError(uri)
      }
      throw error
    })
    const image = imageTypeOf(path)
    const content =
      image === undefined
        ? { mimeType: markdown, text: spend(decoder.decode(bytes)) }
        : { mimeType: image, blob: spend(Buffer.from(bytes).toString('base64')) }
    return { contents: [{ uri, ...content }] }
  })
  server.setRequestHandler('prompts/list', pageParams, async ({ cursor }) => {
    const { items, nextCursor } = await listPacks(ctx, cursor)
    return { prompts: items.map(promptOf), ...nextCursor }
  })
  server.setRequestHandler('prompts/get', promptParams, async ({ name, arguments: args }) => {
    const pack = await findPrompt(ctx, name)
    const text = spend(await promptText(ctx, pack, args?.['task']))
    return {
      description: pack.folder.description,
      messages: [{ role: 'user', content: { type: 'text', text } }],
    }
  })
}

type Server = McpServer['server']

/** Returns the entry of a skill in a list. One that cannot be read does not hide the others. */
const listedSkill = (ctx: AppContext, id: string): ReturnType<typeof findSkill> =>
  findSkill(ctx, id).catch((error: unknown) => {
    ctx.log.error('unexpected', error, { route: 'skills/list', skill: id })
    return undefined
  })

/** Serves the packs by the skills extension. `spend` counts the bytes of a text. */
function serveSkills(ctx: AppContext, server: Server, spend: (text: string) => string): void {
  server.registerCapabilities({ extensions: { [skillsExtension]: {} } })
  server.setRequestHandler('skills/list', pageParams, async ({ cursor }) => {
    const { items, nextCursor } = await listPacks(ctx, cursor)
    const skills = await Promise.all(items.map(({ id }) => listedSkill(ctx, id)))
    spend(JSON.stringify(skills))
    return { skills: skills.filter((skill) => skill !== undefined), ...nextCursor, ...caching }
  })
  server.setRequestHandler('skills/get', resourceParams, async ({ uri }) => {
    const skill = await readSkill(ctx, uri)
    spend(JSON.stringify(skill))
    return { skill, ...caching }
  })
}
