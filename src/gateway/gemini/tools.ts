import { isRecord, itemsOf, type Json, lookUp } from '../../kernel/schema.ts'
import { invalidField, rejectOthers } from '../fields.ts'
import { fieldsOf, listOf } from './fields.ts'

/** Google's names of a web search, by generation of models. */
const searches = ['googleSearch', 'googleSearchRetrieval']
const knownTools = new Set(['functionDeclarations', ...searches])

/** Converts the tools of a request to fields of a chat request. Throws `bad_request`. */
export function readTools(raw: unknown, toolConfig: unknown): Json {
  const all = listOf(raw, 'tools')
  for (const tool of all) rejectOthers(tool, knownTools, 'tools.')
  const declared = all.flatMap((tool) =>
    listOf(tool.functionDeclarations, 'tools').map(readFunction),
  )
  const { mode, allowedFunctionNames } = fieldsOf(fieldsOf(toolConfig).functionCallingConfig)
  const allowed = new Set(itemsOf(allowedFunctionNames))
  const functions = declared.filter(({ name }) => allowed.size === 0 || allowed.has(name))
  const tools = functions.map((called) => ({ type: 'function', function: called }))
  return {
    ...(tools.length > 0 && { tools, ...readMode(mode) }),
    ...(all.some((tool) => searches.some((name) => tool[name])) && { web_search: true }),
  }
}

const choices: Record<string, string> = {
  AUTO: 'auto',
  VALIDATED: 'auto',
  ANY: 'required',
  NONE: 'none',
}

function readMode(mode: unknown): Json {
  if (mode === undefined || mode === null || mode === 'MODE_UNSPECIFIED') return {}
  const tool_choice = lookUp(choices, mode)
  if (tool_choice) return { tool_choice }
  throw invalidField('toolConfig', 'The mode of a functionCallingConfig must be AUTO, ANY or NONE.')
}

function readFunction(tool: Json): { name: string } & Json {
  const { name, description, parameters, parametersJsonSchema } = tool
  if (typeof name !== 'string' || name === '') {
    throw invalidField('tools', 'A function declaration needs a name.')
  }
  const schema = parametersJsonSchema ?? toJsonSchema(parameters)
  return {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isRecord(schema) && { parameters: schema }),
  }
}

/** Numbers that Google's clients send as strings, because they are 64 bits long there. */
const numbers = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** Converts a schema of Google (a subset of OpenAPI 3.0, types in capitals) to JSON Schema. */
export function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema)
  if (!isRecord(schema)) return schema
  const { nullable, type, properties, ...others } = fieldsOf(schema)
  const own = typeof type === 'string' ? type.toLowerCase() : type
  const nested = Object.entries(others).map(([name, value]) => [
    name,
    numbers.has(name) && typeof value === 'string'
      ? Number(value)
      : isSchema(name)
        ? toJsonSchema(value)
        : value,
  ])
  return {
    ...(own !== undefined && { type: nullable === true ? [own, 'null'] : own }),
    ...Object.fromEntries(nested.filter(([name]) => name !== 'propertyOrdering')),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, toJsonSchema(value)]),
      ),
    }),
  }
}

const isSchema = (name: string): boolean =>
  ['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(name)
