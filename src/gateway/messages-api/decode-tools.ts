import { searchesPerRequestMax } from '../../kernel/limits.ts'
import { isRecord, type Json, lookUp, toText } from '../../kernel/schema.ts'
import type { ChatRequest, Tool, ToolChoice } from '../conversation/chat-request.ts'
import { invalidField } from '../fields.ts'

const invalidTool = (problem: string) => invalidField('tools', problem)

interface ReadTools extends Pick<ChatRequest, 'tools' | 'toolChoice' | 'isSerial'> {
  /** True if Anthropic's web search is among the tools. */
  hasSearch: boolean
}

/** Reads the tools of a request and the choice among them. Throws `bad_request`. */
export function readTools(raw: unknown, choice: unknown): ReadTools {
  const list: unknown = raw ?? []
  if (!Array.isArray(list)) throw invalidTool('tools must be an array.')
  const all = list.map((tool: unknown) => {
    if (isRecord(tool)) return tool
    throw invalidTool('A tool must be an object.')
  })
  const searches = all.filter(isSearch)
  for (const search of searches) checkSearch(search)
  const tools = all.filter((tool) => !isSearch(tool)).map(readTool)
  return {
    tools,
    ...readToolChoice(choice, tools.length > 0, searches),
    hasSearch: searches.length > 0,
  }
}

/** Returns whether a tool is Anthropic's web search, in any of its versions. */
const isSearch = ({ type }: Json): boolean => /^web_search_\d+$/.test(toText(type))

/** Throws `bad_request` for options of a search that have no effect here. */
function checkSearch(tool: Json): void {
  for (const name of ['allowed_domains', 'blocked_domains', 'user_location']) {
    const value = tool[name] ?? []
    if (Array.isArray(value) && value.length === 0) continue
    throw invalidTool(`web_search does not support ${name}. Remove it.`)
  }
  const { max_uses: max = searchesPerRequestMax } = tool
  if (typeof max === 'number' && max >= searchesPerRequestMax) return
  if (max !== null) {
    throw invalidTool(`max_uses of web_search must be at least ${searchesPerRequestMax}.`)
  }
}

function readTool(tool: Json): Tool {
  const { type, name, description, input_schema: parameters, strict, input_examples } = tool
  if (type !== undefined && type !== null && type !== 'custom') {
    throw invalidTool(
      `A tool of the type ${toText(type)} is not supported. Send it with a name and an input_schema.`,
    )
  }
  if (typeof name !== 'string' || name === '' || !isRecord(parameters)) {
    throw invalidTool('A tool needs a name and an input_schema.')
  }
  const examples = Array.isArray(input_examples)
    ? input_examples.map((example) => `\nExample: ${JSON.stringify(example)}`).join('')
    : ''
  const text = `${typeof description === 'string' ? description : ''}${examples}`
  return {
    name,
    ...(text !== '' && { description: text }),
    parameters,
    ...(typeof strict === 'boolean' && { isStrict: strict }),
    ...(isRecord(tool.cache_control) && { isCached: true }),
  }
}

function readToolChoice(
  raw: unknown,
  hasTools: boolean,
  searches: Json[],
): Pick<ChatRequest, 'toolChoice' | 'isSerial'> {
  if (raw === undefined || raw === null) return {}
  if (!isRecord(raw)) throw invalidChoice()
  const { type, name, disable_parallel_tool_use: isSerial } = raw
  // The gateway's own search is not among the tools: the model decides whether to search.
  if (searches.some((search) => search.name === name)) return {}
  const toolChoice = toolChoiceOf(type, name)
  if (!hasTools) {
    if (toolChoice === 'auto' || toolChoice === 'none' || searches.length > 0) return {}
    throw invalidField('tool_choice', 'This tool_choice needs at least one tool.')
  }
  return { toolChoice, ...(isSerial === true && { isSerial }) }
}

const choices: Record<string, 'auto' | 'required' | 'none'> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
}

function toolChoiceOf(type: unknown, name: unknown): ToolChoice {
  if (type === 'tool' && typeof name === 'string') return { mode: 'required', names: [name] }
  const choice = lookUp(choices, type)
  if (choice === undefined) throw invalidChoice()
  return choice
}

const invalidChoice = () =>
  invalidField(
    'tool_choice',
    'tool_choice must have the type auto, any, none, or tool with a name.',
  )
