import {
  type McpServer,
  ProtocolError,
  ResourceNotFoundError,
  specTypeSchemas,
} from '@modelcontextprotocol/server'

import { imageTypeOf } from '../../apps/folders/read-pack.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isApiError } from '../../kernel/errors.ts'
import { getRequestContext } from '../../kernel/http/request-context.ts'
import { findBatch, spentMessage } from './batch.ts'
import { keyHeaders } from './call.ts'
import * as packs from './packs.ts'
import { caching, findSkill, readSkill, skillsExtension } from './packs.ts'
import { readView, viewTemplate } from './views.ts'

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
    const { items, nextCursor } = await packs.listPacks(ctx, cursor)
    return { resources: items.map(packs.resourceOf), ...nextCursor }
  })
  server.setRequestHandler('resources/templates/list', pageParams, () => ({
    resourceTemplates: [packs.packTemplate, viewTemplate],
  }))
  server.setRequestHandler('resources/read', resourceParams, async ({ uri }) => {
    if (uri.startsWith('ui://') && request) {
      const headers = new Headers(keyHeaders(request, {}))
      const view = await readView(ctx, pages, uri, { headers, context: getRequestContext(request) })
      spend(view.text)
      return { contents: [view] }
    }
    const { path, bytes } = await packs.readResource(ctx, uri).catch((error: unknown) => {
      if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) {
        throw new ResourceNotFoundError(uri)
      }
      throw error
    })
    const image = imageTypeOf(path)
    const content =
      image === undefined
        ? { mimeType: packs.markdown, text: spend(decoder.decode(bytes)) }
        : { mimeType: image, blob: spend(Buffer.from(bytes).toString('base64')) }
    return { contents: [{ uri, ...content }] }
  })
  server.setRequestHandler('prompts/list', pageParams, async ({ cursor }) => {
    const { items, nextCursor } = await packs.listPacks(ctx, cursor)
    return { prompts: items.map(packs.promptOf), ...nextCursor }
  })
  server.setRequestHandler('prompts/get', promptParams, async ({ name, arguments: args }) => {
    const pack = await packs.findPrompt(ctx, name)
    const text = spend(await packs.promptText(ctx, pack, args?.['task']))
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
    const { items, nextCursor } = await packs.listPacks(ctx, cursor)
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
