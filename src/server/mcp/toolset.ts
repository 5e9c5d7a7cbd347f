import {
  type CallToolResult,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Pages } from '../../apps/viewer/pages.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { clientAddressGroup } from '../../kernel/http/request-context.ts'
import { type Json, nullable, recordOf } from '../../kernel/schema.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import { readDescription } from '../../site/guide/read-description.ts'
import { type AppTool, createAppTools } from './app-tools.ts'
import { findBatch, spentMessage } from './batch.ts'
import { callTool, inputError, placeOf } from './call.ts'
import { serveResources } from './resources.ts'
import type { Extension, ServedTool, Toolset } from './server.ts'
import { type Tool, toolsOf, useToolsOf } from './tools.ts'
import { toolView } from './views.ts'

/** Long lists confuse models, and some clients accept no more. */
const listedToolsMax = 36

interface Api {
  /** The OpenAPI description. */
  description: unknown
  operations: readonly Operation[]
  /** The pages of apps, for the views of chats. */
  pages: Pages
}

/** Creates the tools of an API. Those of an extension are listed first. */
export function createToolset(
  ctx: AppContext,
  { description, operations, pages }: Api,
  extension: Extension | undefined,
): Toolset {
  const extensionTools = extension?.tools ?? []
  const own = toolsOf(readDescription(description), operations)
  const tools = [...own, ...useToolsOf(own)]
  const served = new Map(tools.map((tool) => [tool, serveTool(ctx, tool)]))
  const appTools = createAppTools(ctx, { pages, operations }).map(serveAppTool)
  const areas = new Set(['core', ...tools.map(areaOf)])
  const listedArea = (request: Request): string => {
    const area = new URL(request.url).searchParams.get('tools') ?? ''
    return areas.has(area) ? area : ''
  }
  const byName = new Map(
    [...served.values(), ...extensionTools, ...appTools].map((tool) => [
      tool.definition.name,
      tool,
    ]),
  )
  return {
    instructions: instructionsOf(ctx, tools),
    extend: extension?.extend ?? ((server, request) => serveResources(ctx, pages, server, request)),
    find: (name) => byName.get(name),
    areaOf: listedArea,
    list: (request, hasViews) => {
      const area = listedArea(request)
      const listed = listTools(tools, area).flatMap((tool) => served.get(tool) ?? [])
      const all = [...extensionTools, ...listed, ...(hasViews ? appTools : [])]
      return all.map(({ definition }) => definition)
    },
  }
}

/**
 * Returns the tools of a list. `core` is the core alone; an area ("apps") is that area. Otherwise:
 * the core, the tools for one use, those declared `shown`, and then the next tool of each area in
 * turn, up to the maximum. Clients may call tools that are not listed.
 */
export function listTools(tools: Tool[], set: string | null): Tool[] {
  const isUse = ({ operation, definition }: Tool): boolean => operation.id !== definition.name
  const core = tools
    .filter((tool) => typeof tool.operation.mcp === 'number' && !isUse(tool))
    .sort((a, b) => Number(a.operation.mcp) - Number(b.operation.mcp))
  if (set === 'core') return core
  const areas = Map.groupBy(tools, areaOf)
  const area = areas.get(set ?? '')
  if (area) return area.slice(0, listedToolsMax)
  const uses = tools.filter(isUse)
  const shown = tools.filter(({ operation }) => operation.mcp === 'shown')
  const rest = [...areas.values()].map((all) =>
    all.filter(({ operation }) => operation.mcp === undefined),
  )
  const rounds = Math.max(...rest.map(({ length }) => length))
  const inTurn = Array.from({ length: rounds }, (_, round) =>
    rest.flatMap((all) => all[round] ?? []),
  ).flat()
  return [...core, ...uses, ...shown, ...inTurn].slice(0, listedToolsMax)
}

/** Returns the area of a tool: "reviews-and-comments" for "Reviews and comments". */
const areaOf = ({ operation }: Tool): string => operation.tag.toLowerCase().replaceAll(' ', '-')

const serveTool = (ctx: AppContext, tool: Tool): ServedTool => ({
  // Hosts that show apps do not all declare it, and the others pass over it.
  definition: { ...tool.definition, ...(tool.operation.showsApp && { _meta: toolView }) },
  call: async (args, context) => {
    const mcpRequest = context.http?.req
    if (!mcpRequest) throw new Error('a call without an HTTP request')
    const { apiRequests } = ctx.state.limits
    const address = clientAddressGroup(mcpRequest)
    const batch = findBatch(mcpRequest)
    const problem = findInputProblem(tool, args)
    if (problem !== undefined) {
      // All other calls count themselves, and the message of a batch has been counted.
      if (!batch) apiRequests.take(address)
      return inputError(problem)
    }
    const { signal, _meta: meta } = context.mcpReq
    let isCounted = batch !== undefined
    const call = (own: Json) => {
      const message = { mcpRequest, signal, meta, isCounted }
      // A wait makes several calls, of which the batch has counted one.
      isCounted = false
      return callTool(ctx, tool, own, message)
    }
    const run = () => (tool.places.has('wait') ? waitForJob(args, context, call) : call(args))
    // A wait would hold up the calls behind it, and its result is small.
    if (!batch || tool.places.has('wait')) return run()
    const result = await batch.run(run)
    if (!result) throw new ProtocolError(-32_000, spentMessage)
    return result
  },
})

/** Serves a tool of views. The calls of a batch run one by one, as those of other tools. */
const serveAppTool = ({ definition, call }: AppTool): ServedTool => ({
  definition,
  async call(args, context) {
    const mcpRequest = context.http?.req
    if (!mcpRequest) throw new Error('a call without an HTTP request')
    const { signal, _meta: meta } = context.mcpReq
    const batch = findBatch(mcpRequest)
    const run = () => call(args, { mcpRequest, signal, meta, isCounted: batch !== undefined })
    const result = await (batch ? batch.run(run) : run())
    if (!result) throw new ProtocolError(-32_000, spentMessage)
    return result
  },
})

const instructionsOf = ({ urls }: AppContext, tools: Tool[]): string =>
  [
    'Berth hosts apps and games that agents make. publish_app publishes a whole HTML page, and',
    'build_app has one built from a prompt. Both return a public link.',
    'Call start first: it says what a page may do, and how to use the model gateway.',
    'new_agent creates a key without sign-in. Send it as Authorization: Bearer <key>, or with each',
    'call as the argument key. An error is { error, code }: error says what to do next.',
    `More tools of one area: ${urls.mcp}?tools=<area>, where <area> is one of`,
    `${[...new Set(tools.map(areaOf))].join(', ')}. ${urls.mcp}?tools=core has the fewest.`,
  ].join(' ')

/**
 * Returns why arguments are no call of the operation, without repeating their values; undefined for
 * all that its own checks reject, with the same error as over HTTP.
 */
function findInputProblem(tool: Tool, args: Json): string | undefined {
  const { definition, places } = tool
  const { properties = {}, required = [] } = definition.inputSchema
  for (const name of Object.keys(args)) {
    if (name !== 'key' && placeOf(tool, name) === undefined)
      return `"${name.slice(0, 100)}" is not a field of this operation. Remove it.`
  }
  for (const name of required) {
    const isChecked = definition.name === tool.operation.id && places.get(name) !== 'path'
    if (!isChecked && args[name] === undefined) return `"${name}" is missing.`
  }
  const { key } = args
  if (key !== undefined && typeof key !== 'string') return '"key" must be a string.'
  const bad = [...places].find(
    ([name, place]) => place === 'path' && !isSegment(recordOf(properties[name]), args[name]),
  )
  return bad && `"${bad[0]}" is invalid.`
}

/** Returns whether a value is a segment of a path. An empty or dotted one would change the path. */
const isSegment = ({ type }: Json, value: unknown): boolean =>
  typeof value === 'string'
    ? !/^\.{0,2}$/.test(value)
    : typeof value === 'number' && (type === 'integer' || type === 'number')

/** The fields of a job (get_job) that decide whether to wait on. */
const JobResponse = Type.Object({
  job: Type.Object({
    progress: Type.Number(),
    step: nullable(Type.String()),
    ended: nullable(Type.String()),
  }),
})

/** A change between two polls is reported by the second one. */
const pollSeconds = 2

/**
 * Calls get_job with `wait`. A client with a progress token gets each change, and the result when
 * the job has ended or the wait is over. Other clients get the result at the first change.
 */
export async function waitForJob(
  args: Json,
  { mcpReq }: ServerContext,
  call: (args: Json) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken
  const seconds = Number(args['wait'])
  if (progressToken === undefined || !(seconds > 0)) return call(args)
  const until = stopwatch() + seconds * second
  let reported = -1
  for (;;) {
    const left = Math.max(0, Math.round((until - stopwatch()) / second))
    const result = await call({ ...args, wait: Math.min(left, pollSeconds) })
    const { structuredContent: content } = result
    if (left === 0 || mcpReq.signal.aborted) return result
    if (!Value.Check(JobResponse, content) || content.job.ended !== null) return result
    const { progress, step } = content.job
    // MCP requires that progress increases.
    if (progress <= reported) continue
    reported = progress
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: 1, ...(step && { message: step }) },
    })
  }
}
