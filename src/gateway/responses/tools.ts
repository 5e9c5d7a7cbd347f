import { isRecord, type Json, parseRecord, recordOf, toText } from '../../kernel/schema.ts'
import type { Tool } from '../conversation/chat-request.ts'
import { readFunction } from '../conversation/tools.ts'
import { invalidField } from '../fields.ts'

/** A tool of the Responses API that the client runs. The chat has a function for it. */
export type ClientTool =
  | { type: 'function'; name: string; namespace?: string }
  /** A tool that takes text, such as Codex's `apply_patch`. Its function has one string. */
  | { type: 'custom'; name: string }
  /** Codex's search for further tools. */
  | { type: 'tool_search'; execution: unknown }

export interface RequestTools {
  /** The functions of the chat. */
  functions: Tool[]
  /** The client's tool of each function, by the name of the function. */
  byFunction: Map<string, ClientTool>
  hasSearch: boolean
}

/** The function of `tool_search` in the chat. */
const toolSearchName = 'tool_search'

/** Returns the name in a chat of a function in a namespace. */
const namespacedName = (namespace: string, name: string): string => `${namespace}__${name}`

/** The arguments of the function of a custom tool. */
export const customArguments = (input: string): string => JSON.stringify({ input })

/** Returns the text that a model sent to a custom tool; the JSON around it may be missing. */
export function customInput(args: string): string {
  const { input } = parseRecord(args) ?? {}
  return typeof input === 'string' ? input : args
}

/** Returns the name of the function that stands for a tool in the chat. */
export function functionName(tool: ClientTool): string {
  if (tool.type === 'tool_search') return toolSearchName
  if (tool.type === 'custom' || tool.namespace === undefined) return tool.name
  return namespacedName(tool.namespace, tool.name)
}

/** Returns whether a tool is OpenAI's web search, under any of its names. */
export const isSearch = (tool: unknown): boolean =>
  isRecord(tool) && /^web_search(_preview)?(_[0-9_]+)?$/.test(toText(tool.type))

/**
 * Parses the tools of a request, and those that a tool search has found for it. Throws
 * `bad_request`.
 */
export function readTools(raw: unknown, found: Json[] = []): RequestTools {
  const all = toolListOf(raw)
  const others = all.filter((tool) => !isSearch(tool))
  const functions = new Map<string, Tool>()
  const byFunction: RequestTools['byFunction'] = new Map()
  const add = (given: unknown, namespace?: string): void => {
    const { tool, ...description } = readTool(given, namespace)
    const name = functionName(tool)
    byFunction.set(name, tool)
    functions.set(name, readFunction({ ...description, name }))
  }
  for (const tool of [...others, ...found]) {
    if (!isRecord(tool) || tool.type !== 'namespace') {
      add(tool)
      continue
    }
    const namespace = namespaceOf(tool)
    for (const inner of toolListOf(tool.tools)) add(inner, namespace)
  }
  return { functions: [...functions.values()], byFunction, hasSearch: others.length < all.length }
}

function toolListOf(raw: unknown): unknown[] {
  const list: unknown = raw ?? []
  if (Array.isArray(list)) return list
  throw invalidField('tools', 'tools must be an array.')
}

function namespaceOf({ name }: Json): string {
  if (typeof name === 'string') return name
  throw invalidField('tools', 'A namespace needs a name.')
}

function readTool(given: unknown, namespace?: string): { tool: ClientTool } & Json {
  const { type, name, description, parameters, strict, format, execution } = recordOf(given)
  if (type === 'tool_search') {
    return { tool: { type, execution: execution ?? 'client' }, description, parameters }
  }
  if (type !== 'function' && type !== 'custom') {
    const problem =
      'A tool must have the type function, custom, namespace, tool_search or web_search.'
    throw invalidField('tools', problem)
  }
  if (typeof name !== 'string' || name === '') throw invalidField('tools', 'A tool needs a name.')
  if (type === 'custom') {
    const texts = [description, grammarOf(format)].filter((text) => typeof text === 'string')
    return { tool: { type, name }, description: texts.join('\n\n'), parameters: customParameters }
  }
  const own = { name, ...(namespace !== undefined && { namespace }) }
  return { tool: { type, ...own }, description, parameters, strict }
}

const customParameters = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
  required: ['input'],
  additionalProperties: false,
}

/** Returns the sentence that states a grammar. A chat function cannot enforce one. */
function grammarOf(format: unknown): string | undefined {
  const { type, syntax, definition } = recordOf(format)
  if (type !== 'grammar' || typeof definition !== 'string') return undefined
  return `The input must follow this grammar (${toText(syntax)}):\n${definition}`
}

export const withoutNull = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
