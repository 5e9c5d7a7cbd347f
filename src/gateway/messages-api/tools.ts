import { searchesPerRequestMax } from '../../kernel/limits.ts'
import { isRecord, type Json, lookUp, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

const invalidTool = (problem: string) => invalidField('tools', problem)

/** The tools of a request as fields of a chat request. */
export function readTools(raw: unknown, choice: unknown): Json {
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
    ...(tools.length > 0 && { tools }),
    ...(searches.length > 0 && { web_search: true }),
    ...readToolChoice(choice, tools.length > 0, searches),
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

function readTool(tool: Json): Json {
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
    type: 'function',
    function: {
      name,
      ...(text !== '' && { description: text }),
      parameters,
      ...(typeof strict === 'boolean' && { strict }),
    },
  }
}

function readToolChoice(raw: unknown, hasTools: boolean, searches: Json[]): Json {
  if (raw === undefined || raw === null) return {}
  if (!isRecord(raw)) throw invalidChoice()
  const { type, name, disable_parallel_tool_use: isSerial } = raw
  // A chat's own search is not among its tools: the model decides whether to search.
  if (searches.some((search) => search.name === name)) return {}
  const choice = toolChoiceOf(type, name)
  if (!hasTools) {
    if (choice === 'auto' || choice === 'none' || searches.length > 0) return {}
    throw invalidField('tool_choice', 'This tool_choice needs at least one tool.')
  }
  return { tool_choice: choice, ...(isSerial === true && { parallel_tool_calls: false }) }
}

const choices: Record<string, string> = { auto: 'auto', any: 'required', none: 'none' }

function toolChoiceOf(type: unknown, name: unknown): unknown {
  if (type === 'tool' && typeof name === 'string') return { type: 'function', function: { name } }
  const choice = lookUp(choices, type)
  if (choice === undefined) throw invalidChoice()
  return choice
}

const invalidChoice = () =>
  invalidField(
    'tool_choice',
    'tool_choice must have the type auto, any, none, or tool with a name.',
  )
