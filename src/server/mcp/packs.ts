import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  specTypeSchemas,
} from '@modelcontextprotocol/server'

import { listItems } from '../../apps/explore/explore.ts'
import type { Item } from '../../apps/explore/schemas.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import { packKinds } from '../../apps/kinds.ts'
import { findListedPack, type ListedPack } from '../../apps/listed-packs.ts'
import { getListedPack, readFile } from '../../apps/packs/packs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { decodePath, encodePath } from '../../kernel/http/path.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { findBatch, spentMessage } from './batch.ts'

const markdown = 'text/markdown'

// With the schema of its parameters, a method answers invalid ones with InvalidParams. Without it
// the library calls them an internal error.
const pageParams = { params: specTypeSchemas.PaginatedRequestParams }
const resourceParams = { params: specTypeSchemas.ReadResourceRequestParams }
const promptParams = { params: specTypeSchemas.GetPromptRequestParams }

const uriOf = (id: string, path = skillFile): string => `skill://${id}/${encodePath(path)}`

/**
 * Serves the packs on Explore as resources (`skill://<id>/SKILL.md`) and as prompts, so that a
 * client loads one without a tool call.
 */
export function servePacks(ctx: AppContext, { server }: McpServer, request?: Request): void {
  const spend = (text: string): string => {
    const batch = request && findBatch(request)
    if (batch && !batch.spend(text.length)) throw new ProtocolError(-32_000, spentMessage)
    return text
  }
  server.registerCapabilities({ resources: {}, prompts: {} })
  server.setRequestHandler('resources/list', pageParams, async ({ cursor }) => {
    const { items, nextCursor } = await listPacks(ctx, cursor)
    return { resources: items.map(resourceOf), ...nextCursor }
  })
  server.setRequestHandler('resources/templates/list', pageParams, () => ({
    resourceTemplates: [
      { name: 'pack-file', title: 'File of a pack', uriTemplate: 'skill://{id}/{+path}' },
    ],
  }))
  server.setRequestHandler('resources/read', resourceParams, async ({ uri }) => {
    const [, id = '', encoded = ''] = /^skill:\/\/([^/]+)\/(.+)$/.exec(uri) ?? []
    const path = decodePath(encoded)
    if (path === null) throw new ResourceNotFoundError(uri)
    const bytes = await readResource(ctx, id, path).catch((error: unknown) => {
      if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) {
        throw new ResourceNotFoundError(uri)
      }
      throw error
    })
    const image = imageTypeOf(path)
    const content =
      image === undefined
        ? { mimeType: markdown, text: spend(new TextDecoder().decode(bytes)) }
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

const resourceOf = ({ id, name, title, description, maker }: Item) => ({
  uri: uriOf(id),
  name: name ?? title,
  title,
  description: `${description} (by ${maker})`,
  mimeType: markdown,
})

const task = { name: 'task', description: 'What to do with these instructions.', required: false }

const promptOf = ({ name, title, description, maker }: Item) => ({
  name: `${maker.slice(1)}.${name ?? title}`,
  title,
  description,
  arguments: [task],
})

const readResource = async (ctx: AppContext, id: string, path: string): Promise<Uint8Array> =>
  readFile(ctx, (await getListedPack(ctx, id)).row, path)

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
  const list = others.map(({ path }) => `- ${uriOf(item.id, path)}`).join('\n')
  return [text.trim(), list && `Other files:\n${list}`, todo].filter(Boolean).join('\n\n')
}
