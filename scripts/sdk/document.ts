/** The operations of an OpenAPI document, as the generators of the SDKs need them. */
import { isRecord, type Json, recordOf } from '../../src/kernel/schema.ts'
import { type Document } from '../../src/testing/openapi/document.ts'

/** The type of each event of a stream that has only events. Others are events of other APIs. */
export const eventTypes: Record<string, string> = { watch_job: 'Job', watch_notes: 'Note' }

export const pascalCase = (name: string): string =>
  name.replace(/(^|_)(\w)/g, (_, _1, letter: string) => letter.toUpperCase())

export interface SdkOperation {
  /** The operationId: snake_case. */
  name: string
  /** The summary and the description. */
  doc: string
  method: string
  path: string
  /** One schema of all fields: path, query and body. */
  input: Json
  /** The schema of the JSON responses; undefined where none is JSON. */
  result: Json | undefined
  /** The results of publishing, which its fields choose. Empty where `result` has no choice. */
  outcomes: Outcome[]
  /** Other types of responses. */
  media: { text: boolean; bytes: boolean }
  idempotent: boolean
  items: string | undefined
  content: string | undefined
  form: boolean
  events: 'only' | 'asked' | undefined
}

/** A result, and the field with which a call has it. The last one has no field. */
export interface Outcome {
  name: 'DryRun' | 'Build' | 'Result'
  field?: 'dryRun' | 'prompt'
  result: Json
}

/** The outcomes of publishing by their status, in the order in which they are told apart. */
const outcomeKinds: [status: string, Omit<Outcome, 'result'>][] = [
  ['200', { name: 'DryRun', field: 'dryRun' }],
  ['202', { name: 'Build', field: 'prompt' }],
  ['201', { name: 'Result' }],
]

const constraints = new Set(
  [
    'pattern',
    'examples',
    'dependentSchemas',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
  ].concat(
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minProperties'],
    ['uniqueItems', 'contentEncoding', 'contentMediaType', 'additionalProperties', 'not'],
  ),
)

/** Returns true for a schema that says only which fields of its parent belong together. */
const isCondition = (schema: unknown): boolean => {
  if (!isRecord(schema)) return false
  const parts = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(parts)) return parts.every(isCondition)
  return !['type', '$ref', 'enum', 'const'].some((key) => key in schema)
}

/** Removes what no type can say, and values that never occur. */
export function simplify(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(simplify)
  if (!isRecord(given)) return given
  const entries = Object.entries(given).filter(
    ([key, value]) =>
      !constraints.has(key) &&
      !(
        ['anyOf', 'oneOf', 'allOf'].includes(key) &&
        Array.isArray(value) &&
        value.some(isCondition)
      ),
  )
  const schema = Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === 'properties' ? simplifyFields(value) : simplify(value),
    ]),
  )
  // A field that holds any object.
  const isOpen = given['type'] === 'object' && isRecord(given['additionalProperties'])
  return isOpen
    ? { ...schema, additionalProperties: simplify(given['additionalProperties']) }
    : schema
}

const simplifyFields = (fields: unknown): Json =>
  Object.fromEntries(
    Object.entries(recordOf(fields)).map(([name, field]) => [name, simplify(field)]),
  )

/** Returns the operations of a document in its order. */
export function readOperations(document: Document): SdkOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // A client has a key, and no session of a browser.
      .filter(([, { tags }]) => !['Sign-in', 'Operator'].includes(tags[0] ?? ''))
      .map(([method, operation]) => readOperation(method.toUpperCase(), path, recordOf(operation)))
      // A WebSocket, and the document itself.
      .filter(({ name }) => name !== 'open_realtime' && name !== 'get_openapi'),
  )
}

function readOperation(method: string, path: string, operation: Json): SdkOperation {
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const bodies = recordOf(recordOf(requestBody)['content'])
  const successes = Object.entries(recordOf(responses)).flatMap(([status, response]) =>
    status < '300' ? Object.entries(recordOf(recordOf(response)['content'])) : [],
  )
  const types = successes.map(([type]) => type)
  const named = itemsOf(parameters)
  const isKeyed =
    named.some(({ name }) => name === 'Idempotency-Key') ||
    JSON.stringify(recordOf(responses)['409'] ?? '').includes('"ref_conflict"')
  const result = resultOf(successes)
  const input = inputOf(named, bodies)
  const fields = recordOf(input['properties'])
  const hasEvents = types.includes('text/event-stream')
  return {
    name: String(operationId),
    doc: [summary, description].filter(Boolean).join(' '),
    method,
    path,
    input,
    result,
    outcomes: 'dryRun' in fields ? outcomesOf(recordOf(responses), fields) : [],
    media: {
      text: types.some((type) => /^text\/(?!event-stream)|xml|subrip/.test(type)),
      bytes: types.some((type) => /^(audio|image|video|\*)\/|zip/.test(type)),
    },
    idempotent: isKeyed,
    items: listedField(result),
    content: Object.keys(bodies).find((type) => /zip|octet-stream/.test(type)),
    form: Object.keys(bodies)[0] === 'multipart/form-data',
    events: hasEvents ? (types.length === 1 ? 'only' : 'asked') : undefined,
  }
}

const itemsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(recordOf) : [])

/** Merges parameters and body. Payments are headers, which are options of a call. */
function inputOf(parameters: Json[], bodies: Json): Json {
  const own = parameters.filter((parameter) => parameter['in'] !== 'header')
  const body = recordOf(simplify(recordOf(Object.values(bodies)[0])['schema']))
  const hasContent = Object.keys(bodies).some((type) => /zip|octet-stream/.test(type))
  const content = { type: 'string', format: 'binary', description: 'The bytes, instead of fields.' }
  const properties = {
    ...Object.fromEntries(
      own.map(({ name, schema, description }) => [
        String(name),
        { ...recordOf(simplify(schema)), ...(description ? { description } : {}) },
      ]),
    ),
    ...recordOf(body['properties']),
    ...(hasContent && { content }),
  }
  const required = [
    ...own.filter((parameter) => parameter['required']).map(({ name }) => String(name)),
    ...(hasContent ? [] : Array.isArray(body['required']) ? body['required'] : []),
  ]
  return {
    type: 'object',
    properties,
    required,
    ...(body['additionalProperties'] ? { additionalProperties: true } : {}),
  }
}

function resultOf(successes: [string, unknown][]): Json | undefined {
  const schemas = successes
    .filter(([type]) => type.includes('json'))
    .flatMap(([, media]) => {
      const schema = recordOf(recordOf(media)['schema'])
      return Array.isArray(schema['anyOf']) ? schema['anyOf'] : [schema]
    })
    .filter((schema) => !JSON.stringify(schema).includes('"payment_pending"'))
  const unique = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  if (unique.length === 0) return undefined
  return recordOf(simplify(unique.length === 1 ? unique[0] : { anyOf: unique }))
}

/** Returns the outcomes of an operation with `fields`. */
function outcomesOf(responses: Json, fields: Json): Outcome[] {
  const isChosen = ({ field }: Omit<Outcome, 'result'>): boolean => !field || field in fields
  const kinds = outcomeKinds.filter(([, kind]) => isChosen(kind))
  // No field of assets chooses a job: they are one where they take longer.
  const others = outcomeKinds.filter(([, kind]) => !isChosen(kind))
  return kinds.flatMap(([status, kind]) => {
    const statuses = kind.field ? [status] : [status, ...others.map(([other]) => other)]
    const contents = statuses.map((one) => recordOf(recordOf(responses[one])['content']))
    const result = resultOf(contents.flatMap((content) => Object.entries(content)))
    return result ? [{ ...kind, result }] : []
  })
}

/** Returns the field with the items of a list that has pages. */
function listedField(result: Json | undefined): string | undefined {
  const fields = recordOf(result?.['properties'])
  if (!('next' in fields || 'has_more' in fields)) return undefined
  return Object.keys(fields).find((name) => recordOf(fields[name])['type'] === 'array')
}
