import type { Tool as Definition } from '@modelcontextprotocol/server'

import type { Operation, UseTool } from '../../kernel/http/operation.ts'
import type {
  ApiDescription,
  DescribedOperation,
  Schema,
} from '../../site/guide/read-description.ts'

export type Place = 'path' | 'query' | 'body'

export interface Tool {
  definition: Definition
  operation: Operation
  /** The place of each argument in the request, except `key`. */
  places: Map<string, Place>
}

/** Media types of bodies that a tool result can hold. Other files have URLs. */
const json = 'application/json'
const textTypes = [json, 'text/html', 'text/markdown', 'text/plain']

type Success = [media: string, schema: Schema]

/**
 * Returns the text of each successful response that has a body: without Accept, its first type.
 * Undefined where a response is no text.
 */
function successesOf({ responses }: DescribedOperation): Success[] | undefined {
  const successes: Success[] = []
  for (const [status, { content }] of Object.entries(responses)) {
    const types = Object.keys(content)
    if (status >= '300' || types.length === 0) continue
    const type = types.find((media) => textTypes.includes(media))
    const media = type && content[type]
    if (!media) return undefined
    successes.push([type, media.schema])
  }
  return successes
}

/** Returns the operations that can be tools, in the order of the description. */
export function toolsOf(
  { operations, records }: ApiDescription,
  declarations: readonly Operation[],
): Tool[] {
  const declared = new Map(declarations.map((operation) => [operation.id, operation]))
  return operations.flatMap((operation) => {
    const own = declared.get(operation.operationId)
    const successes = successesOf(operation)
    if (!own || !successes || own.access.auth === 'person') return []
    if (own.mcp === 'hidden' || own.mcp === 'app') return []
    return [{ operation: own, ...toolOf(operation, successes, records) }]
  })
}

function toolOf(
  operation: DescribedOperation,
  successes: Success[],
  records: ApiDescription['records'],
): Omit<Tool, 'operation'> {
  const { operationId: name, summary, description, method } = operation
  const { inputs, required, places } = inputsOf(operation)
  return {
    places,
    definition: {
      name,
      title: titleOf(name),
      description: description ? `${summary} ${description}` : summary,
      inputSchema: {
        ...selfContained({ properties: { ...inputs, key }, required }, records),
        additionalProperties: false,
      },
      outputSchema: selfContained(
        { anyOf: [...successes.map(outputSchema), errorSchema] },
        records,
      ),
      annotations: {
        readOnlyHint: method === 'GET',
        destructiveHint: ['DELETE', 'PUT', 'PATCH'].includes(method),
        idempotentHint: method !== 'POST',
      },
    },
  }
}

/** Returns the tools for one use of an operation, which perform it with fewer fields. */
export const useToolsOf = (tools: readonly Tool[]): Tool[] =>
  tools.flatMap((tool) => (tool.operation.useTool ? [useToolOf(tool, tool.operation.useTool)] : []))

function useToolOf({ operation, definition, places }: Tool, use: UseTool): Tool {
  const { name, summary, description, without, required } = use
  const { properties = {}, ...schema } = definition.inputSchema
  const isKept = ([field]: [string, unknown]): boolean => !without.includes(field)
  return {
    operation,
    places: new Map([...places].filter(isKept)),
    definition: {
      ...definition,
      name,
      title: titleOf(name),
      description: `${summary} ${description}`,
      inputSchema: {
        ...schema,
        properties: Object.fromEntries(Object.entries(properties).filter(isKept)),
        required: [...(schema.required ?? []), ...required],
      },
    },
  }
}

/** Finds the operation that a tool performs, by the name of the tool. */
export const operationOf = (
  operations: readonly Operation[],
  tool: unknown,
): Operation | undefined =>
  operations.find(({ id, useTool }) => id === tool || useTool?.name === tool)

const titleOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase())

const key = {
  type: 'string',
  description: 'Your agent key, unless you send it as Authorization: Bearer <key>.',
}

/** The errors of the Agent API (document 1, section 7). */
const errorSchema = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    code: { type: 'string' },
    reasons: { type: 'array', items: { type: 'string' } },
    accepts: { type: 'array', items: {} },
  },
  required: ['error', 'code'],
}

/** Returns the field that holds a text in a structured result: `html`, `markdown`. */
export const fieldOf = (media: string): string => media.split('/')[1] ?? media

const outputSchema = ([media, schema]: Success): Schema =>
  media === json
    ? schema
    : {
        type: 'object',
        properties: { [fieldOf(media)]: { type: 'string' } },
        required: [fieldOf(media)],
      }

const flag = { type: 'boolean' }
const isFlag = ({ enum: values }: Schema): boolean =>
  Array.isArray(values) && values.includes('true')

/** Returns the arguments of an operation: the fields of its path, query and body together. */
function inputsOf({ operationId, parameters = [], requestBody }: DescribedOperation) {
  const inputs: Record<string, object> = {}
  const required: string[] = []
  const places: Tool['places'] = new Map()
  const add = (name: string, place: Place, schema: object): void => {
    if (Object.hasOwn(inputs, name) || name === 'key')
      throw new Error(`${operationId} has two arguments named ${name}`)
    inputs[name] = schema
    places.set(name, place)
  }
  for (const { name, in: place, required: isRequired, description, schema } of parameters) {
    if (place !== 'path' && place !== 'query') continue
    add(name, place, { ...(isFlag(schema) ? flag : schema), ...(description && { description }) })
    if (isRequired) required.push(name)
  }
  const body = requestBody?.content[json]?.schema
  for (const [name, schema] of Object.entries(body?.['properties'] ?? {})) add(name, 'body', schema)
  if (Array.isArray(body?.['required'])) required.push(...body['required'].map(String))
  return { inputs, required, places }
}

/** Returns an object schema with the shared records that it refers to. */
function selfContained(schema: Schema, records: ApiDescription['records']) {
  const found = new Map<string, Schema>()
  const localise = (given: Schema): Schema => {
    const text = JSON.stringify(given).replaceAll('#/components/schemas/', '#/$defs/')
    for (const [, name = ''] of text.matchAll(/"#\/\$defs\/(\w+)"/g)) {
      const record = records[name]
      if (found.has(name) || !record) continue
      found.set(name, record)
      found.set(name, localise(record))
    }
    return JSON.parse(text)
  }
  const own = localise(schema)
  return {
    type: 'object' as const,
    ...own,
    ...(found.size > 0 && { $defs: Object.fromEntries(found) }),
  }
}
