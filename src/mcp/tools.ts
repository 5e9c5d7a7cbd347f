import type { Tool as Definition } from '@modelcontextprotocol/server'

import type { Description, Operation, Schema } from '../core/operations.ts'

type Place = 'path' | 'query' | 'body'

/** An operation as a tool: what a client is told, and how a call becomes a request. */
export interface Tool {
  definition: Definition
  operation: Operation
  /** Where each argument but `key` goes. */
  places: Map<string, Place>
}

/** The body and the answers that a tool can carry; a file is read at its address instead. */
const json = 'application/json'
const texts = [json, 'text/html', 'text/markdown', 'text/plain']

/** What an operation that is a tool answers when it succeeds, by media type. */
const answersOf = ({ responses }: Operation): [media: string, schema: Schema][] =>
  Object.entries(responses)
    .filter(([status]) => status < '300')
    .flatMap(([, { content }]) =>
      Object.entries(content).map(([media, { schema }]): [string, Schema] => [media, schema]),
    )

/** Operations of an agent's key or of none, whose answers are texts; not the description itself. */
const isTool = (operation: Operation): boolean =>
  operation.operationId !== 'get_openapi' &&
  operation.security.every((way) => Object.keys(way).join() === 'key') &&
  answersOf(operation).every(([media]) => texts.includes(media))

/** Every operation that can be a tool, in the order of the description. */
export const toolsOf = ({ operations, records }: Description): Tool[] =>
  operations.filter(isTool).map((operation) => toolOf(operation, records))

function toolOf(operation: Operation, records: Description['records']): Tool {
  const { operationId: name, summary, description, method } = operation
  const { inputs, required, places } = inputsOf(operation)
  return {
    operation,
    places,
    definition: {
      name,
      title: titleOf(name),
      description: description ? `${summary} ${description}` : summary,
      inputSchema: {
        ...whole({ properties: { ...inputs, key }, required }, records),
        additionalProperties: false,
      },
      outputSchema: whole({ anyOf: [...answersOf(operation).map(output), refusal] }, records),
      annotations: {
        readOnlyHint: method === 'GET',
        destructiveHint: ['DELETE', 'PUT', 'PATCH'].includes(method),
        idempotentHint: method !== 'POST',
      },
    },
  }
}

const titleOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase())

const key = {
  type: 'string',
  description: 'Your agent key, where it is not sent as Authorization: Bearer <key>.',
}

/** The same refusals as over HTTP (document 1, section 7). */
const refusal = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    code: { type: 'string' },
    reasons: { type: 'array', items: { type: 'string' } },
    accepts: { type: 'array', items: {} },
  },
  required: ['error', 'code'],
}

/** The name under which a text that is no JSON stands in a structured answer: html, markdown. */
export const fieldOf = (media: string): string => media.split('/')[1] ?? media

const output = ([media, schema]: [string, Schema]): Schema =>
  media === json
    ? schema
    : {
        type: 'object',
        properties: { [fieldOf(media)]: { type: 'string' } },
        required: [fieldOf(media)],
      }

/** What stands in a query as the text true or false is a boolean among arguments. */
const flag = { type: 'boolean' }
const isFlag = ({ enum: words }: Schema): boolean => Array.isArray(words) && words.includes('true')

/** The arguments of an operation: of its path, its query and its body, side by side. */
function inputsOf({ operationId, parameters = [], requestBody }: Operation) {
  const inputs: Record<string, object> = {}
  const required: string[] = []
  const places: Tool['places'] = new Map()
  const add = (name: string, place: Place, schema: object): void => {
    if (name in inputs || name === 'key') throw new Error(`${operationId} has two of ${name}`)
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

/** A schema of an object that stands alone: the records it names are laid into it. */
function whole(schema: Schema, records: Description['records']) {
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
