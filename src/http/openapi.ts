import { isRecord, recordOf } from '../core/schema.ts'

/** A JSON object, as it comes out of the description. */
type Node = { [name: string]: unknown }

/** What an API's description says beside its operations. */
export interface ApiInfo {
  title: string
  version: string
  description: string
  /** Public address of the API, and the path inside under which its operations are mounted. */
  server: string
  mount: string
  /** What the key of its operations is. */
  key: string
  /** The cookie of a person's session, where its operations take one. */
  session?: string
  tags: { name: string; description: string }[]
  /** Path parameters that mean the same wherever they stand, by name. */
  parameters: Record<string, { schema: Node; description: string }>
  /** operationIds whose body may be left out. */
  optionalBodies: ReadonlySet<string>
}

/**
 * Makes a valid OpenAPI 3.1.0 description out of the 3.0.3 one that Elysia's plugin writes of its
 * routes: addresses relative to the server, one content type per body, a description for every
 * answer, schemas of JSON Schema 2020-12, and those with a `title` once, under components.
 * https://spec.openapis.org/oas/v3.1.0
 */
export function toOpenApi31(raw: unknown, words: ApiInfo): Node {
  const answers = new Schemas(false)
  const paths: Node = {}
  for (const [path, methods] of Object.entries(at(raw, 'paths'))) {
    // The plugin knows only parameters that are a whole part of the path.
    const named = path.slice(words.mount.length).replace(/:(\w+)/g, '{$1}')
    const own = named.replace(/(.)\/$/, '$1') || '/'
    paths[own] = mapValues(recordOf(methods), (given) =>
      operationOf(recordOf(given), words, answers),
    )
  }
  const { title, version, description, server, key, session, tags } = words
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: server }],
    tags,
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: key },
        ...(session && { session: { type: 'apiKey', in: 'cookie', name: session } }),
      },
      headers,
      schemas: Object.fromEntries(answers.named),
    },
  }
}

const headers = {
  RequestId: { description: 'Names this request to the operator.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
}
const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
const retryAfter = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

function operationOf(given: Node, words: ApiInfo, answers: Schemas): Node {
  // `operation` is our declaration (operation.ts), which is not a part of OpenAPI.
  const { parameters, requestBody, responses, operationId, operation: _, ...rest } = given
  const body = requestBody === undefined ? undefined : recordOf(requestBody)
  return {
    operationId,
    ...rest,
    ...(Array.isArray(parameters) &&
      parameters.length > 0 && {
        parameters: parameters.map((parameter) => parameterOf(recordOf(parameter), words)),
      }),
    ...(body && {
      requestBody: {
        required: !words.optionalBodies.has(String(operationId)),
        content: contentOf(recordOf(body['content']), {}, inputs),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(recordOf(responses)).map(([status, answer]) => [
        status,
        answerOf(status, recordOf(answer), answers),
      ]),
    ),
  }
}

function parameterOf(given: Node, words: ApiInfo): Node {
  const { schema, ...rest } = given
  const known = given['in'] === 'path' ? words.parameters[String(given['name'])] : undefined
  const own = recordOf(inputs.plain(schema))
  const typed = own['type'] === 'string' && !own['pattern'] ? (known?.schema ?? own) : own
  return { description: known?.description, ...rest, schema: typed }
}

const phrases: Record<string, string> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Begun.',
  204: 'Nothing more.',
  206: 'A part, as `Range` asked.',
  302: 'Elsewhere, as `Location` says.',
  416: 'The range that was asked for lies behind the end; there is no body.',
}

/** The plugin lays a schema's own keywords beside the answer's content; they go back inside. */
function answerOf(status: string, given: Node, schemas: Schemas): Node {
  const { content: offered, description, ...keywords } = given
  const isEmpty = status === '204' || status === '416'
  const content = isEmpty ? {} : contentOf(recordOf(offered), keywords, schemas)
  return {
    description: description ?? phrases[status] ?? codesIn(content),
    headers: { ...requestId, ...(status === '429' && retryAfter) },
    content,
  }
}

/** The codes of a refusal, for who reads only the description of its status. */
function codesIn(content: Node): string {
  const [media] = Object.values(content)
  const { enum: codes } = at(at(at(media, 'schema'), 'properties'), 'code')
  return Array.isArray(codes) ? codes.join(', ') : 'Refused.'
}

/**
 * The plugin offers every body in three types, plain text among them; a schema says its own, or it
 * is JSON. What an operation itself says that it takes stays.
 */
function contentOf(given: Node, keywords: Node, schemas: Schemas): Node {
  const types = Object.entries(given)
  const offered = 'text/plain' in given ? types.slice(0, 1) : types
  return Object.fromEntries(
    offered.flatMap(([type, media]) =>
      byMedia({ ...keywords, ...at(media, 'schema') }).map((schema) => [
        schema['contentMediaType'] ?? type,
        { schema: schemas.of(schema) },
      ]),
    ),
  )
}

/** An answer that is JSON or, when that is asked for, something else, as a schema for each. */
function byMedia(schema: Node): Node[] {
  const { anyOf } = schema
  const parts = Array.isArray(anyOf) ? anyOf.map(recordOf) : []
  return parts.some((part) => part['contentMediaType']) ? parts : [schema]
}

const inside = new Set(['items', 'not', 'anyOf', 'oneOf', 'allOf'])

/**
 * Turns schemas into plain JSON Schema 2020-12 and gathers those with a title. What is sent may
 * have no other fields than those named; an answer may have more some day, and Elysia, which
 * closes the schemas of answers as it comes to use them, is not followed.
 */
class Schemas {
  readonly named = new Map<string, unknown>()

  constructor(private readonly isInput: boolean) {}

  /** A schema, or a reference to it where it has a title. Throws for two of one title. */
  of(given: unknown): unknown {
    const { title, ...schema } = recordOf(given)
    if (typeof title !== 'string') return this.plain(given)
    const made = this.plain(schema)
    const known = this.named.get(title)
    if (known && !Bun.deepEquals(known, made)) throw new Error(`two schemas are titled ${title}`)
    this.named.set(title, made)
    return { $ref: `#/components/schemas/${title}` }
  }

  /** The schema itself, with everything inside it made plain. */
  plain(given: unknown): unknown {
    if (Array.isArray(given)) return given.map((part) => this.of(part))
    if (!isRecord(given)) return given
    const { $id: _, additionalProperties: more, ...keywords } = given
    const schema: Node = {}
    for (const [name, value] of Object.entries(keywords)) {
      const isMap = name === 'properties' || name === 'patternProperties'
      if (isMap) schema[name] = mapValues(recordOf(value), (property) => this.of(property))
      else if (name === 'charsMax') schema['maxLength'] = value
      else schema[name] = inside.has(name) && typeof value === 'object' ? this.of(value) : value
    }
    if (typeof more === 'object' || (more === false && this.isInput))
      schema['additionalProperties'] = this.of(more)
    return simple(schema)
  }
}

const inputs = new Schemas(true)

/**
 * One word or one of several is an enum, Elysia's "number or its text" a number, and "this or null"
 * one schema with two types. `nullable` is a word of 3.0 alone.
 */
function simple(given: Node): Node {
  const { nullable, ...schema } = given
  const { anyOf, const: only, ...rest } = schema
  if (nullable) {
    const { type, oneOf } = schema
    if (!Array.isArray(oneOf)) return { ...schema, type: [type, 'null'] }
    return { ...schema, oneOf: [...oneOf, { type: 'null' }] }
  }
  if (typeof only === 'string') return { ...rest, enum: [only] }
  if (!Array.isArray(anyOf)) return schema
  const parts = anyOf.map(recordOf)
  const words = parts.flatMap((part) => (part['type'] === 'string' ? (part['enum'] ?? []) : []))
  if (words.length === parts.length) return { ...rest, type: 'string', enum: words }
  const [first, second] = parts
  if (parts.length !== 2) return schema
  if (first?.['format'] === 'numeric' || first?.['format'] === 'integer') {
    const { multipleOf, ...number } = { ...rest, ...second }
    return multipleOf === 1 ? { ...number, type: 'integer' } : { ...number }
  }
  if (second?.['type'] !== 'null' || typeof first?.['type'] !== 'string' || first['enum'])
    return schema
  return { ...rest, ...first, type: [first['type'], 'null'] }
}

const at = (value: unknown, name: string): Node => recordOf(recordOf(value)[name])

const mapValues = (given: Node, make: (value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, make(value)]))
