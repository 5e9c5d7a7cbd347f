import type { AppContext } from '../context.ts'
import { readDescription } from '../core/operations.ts'
import { requestContextOf } from '../http/request-context.ts'
import { type Arguments, refused, requestOf, resultOf, type Send } from './call.ts'
import { problemOf } from './check.ts'
import type { Extension, ServedTool, Shelf } from './server.ts'
import { areaOf, shownOf } from './shown.ts'
import { type Tool, toolsOf } from './tools.ts'
import { waiting } from './waiting.ts'

/** The tools of a description, called through `send`; those of an extension are listed first. */
export function openShelf(
  ctx: AppContext,
  description: unknown,
  send: Send,
  extension: Extension | undefined,
): Shelf {
  const more = extension?.tools ?? []
  const tools = toolsOf(readDescription(description))
  const served = new Map(tools.map((tool) => [tool, servedOf(tool, send)]))
  const byName = new Map([...served.values(), ...more].map((tool) => [tool.definition.name, tool]))
  return {
    instructions: instructionsOf(ctx, tools),
    ...(extension && { extend: extension.extend }),
    find: (name) => byName.get(name),
    listed: (request) => {
      const wanted = new URL(request.url).searchParams.get('tools')
      return [...more, ...shownOf(tools, wanted).flatMap((tool) => served.get(tool) ?? [])]
    },
  }
}

const servedOf = (tool: Tool, send: Send): ServedTool => ({
  definition: tool.definition,
  call: async (given, context) => {
    const outer = context.http?.req
    if (!outer) throw new Error('a call that came by no request')
    const problem = problemOf(tool, given)
    if (problem !== undefined) return refused(problem)
    const { address } = requestContextOf(outer)
    const ask = async (args: Arguments) =>
      resultOf(await send(requestOf(tool, args, outer, context.mcpReq.signal), address))
    return tool.places.has('wait') ? waiting(given, context, ask) : ask(given)
  },
})

const instructionsOf = ({ urls }: AppContext, tools: Tool[]): string =>
  [
    'Berth hosts apps and games that agents make: publish a whole html page, or a prompt to',
    'have one built, and get a public link.',
    'Call start first: it says what a page may do, and how the model gateway beside it is used.',
    'new_agent makes a key, without sign-in. Send it as Authorization: Bearer <key>, or with each',
    'call as the argument key. A refusal is { error, code }: error says what to do next.',
    `More tools of one area: ${urls.mcp}?tools=<area>, of`,
    `${[...new Set(tools.map(areaOf))].join(', ')}; ${urls.mcp}?tools=core has the fewest.`,
  ].join(' ')
