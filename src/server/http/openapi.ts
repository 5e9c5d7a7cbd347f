import { Type, TypeGuard } from '@sinclair/typebox'

import { compressText, createEntity, type Entity } from '../../kernel/http/entity.ts'
import { type Operation, paymentErrors } from '../../kernel/http/operation.ts'
import { Cache } from '../../kernel/lazy.ts'
import { isRecord, itemsOf, lookUp, recordOf } from '../../kernel/schema.ts'

/** A JSON object of a description. */
export type Node = { [name: string]: unknown }

const base64 = { type: 'string', contentEncoding: 'base64' }
const receipt = 'of the payment that was settled for this request: JSON in base64.'

/** The headers of payments (docs/spec/payments.md, "x402"), for `components`. */
const paymentHeaders = {
  PaymentRequired: {
    description: 'The offer in version 2 of x402: JSON in base64.',
    schema: base64,
  },
  PaymentResponse: { description: `The receipt ${receipt} Version 2 of x402.`, schema: base64 },
  XPaymentResponse: { description: `The receipt ${receipt} Version 1 of x402.`, schema: base64 },
}
const refTo = (name: keyof typeof paymentHeaders) => ({ $ref: `#/components/headers/${name}` })

/** The header parameters of an operation that takes payments. */
const parameters = [
  ['PAYMENT-SIGNATURE', 2],
  ['X-PAYMENT', 1],
].map(([name, version]) => ({
  in: 'header',
  name,
  required: false,
  description: `A payment that "accepts" of a 402 offers, in version ${version} of x402: JSON in base64. It is settled where the call is short of credits.`,
  schema: base64,
}))

/** Returns whether an operation takes payments, by its declaration. */
const takesPayments = (errors: unknown): boolean =>
  Array.isArray(errors) && paymentErrors.every((name) => errors.includes(name))

/** Returns the parameters that payments add to an operation. */
const paymentParameters = (isPaid: boolean): Node[] => (isPaid ? parameters : [])

/** Returns the headers that payments add to a response. */
function paymentHeadersOf(status: string, isPaid: boolean): Node {
  if (!isPaid) return {}
  if (status === '402') return { 'payment-required': refTo('PaymentRequired') }
  if (status >= '300') return {}
  return {
    'payment-response': refTo('PaymentResponse'),
    'x-payment-response': refTo('XPaymentResponse'),
  }
}

/** The parts of a description beside its operations. */
interface ApiInfo {
  title: string
  version: string
  description: string
  /** The public base URL of the API. */
  server: string
  /** The description of its API key. */
  key: string
  /** The name of the session cookie, where operations accept one. */
  session?: string
  tags: { name: string; description: string }[]
  /** Path parameters by name. A name has the same meaning in all operations. */
  parameters: Record<string, { schema: Node; description: string }>
  /** operationIds with an optional body. */
  optionalBodies: ReadonlySet<string>
}

/**
 * Converts the OpenAPI 3.0.3 description of Elysia's plugin to 3.1.0: paths relative to the server,
 * one content type a body, a description of each response, schemas of JSON Schema 2020-12, and
 * those with a `title` once, under components.
 * https://spec.openapis.org/oas/v3.1.0
 */
function toOpenApi31(raw: unknown, info: ApiInfo): Node {
  const responseSchemas = new Schemas(false)
  const paths: Node = {}
  for (const [path, methods] of Object.entries(at(raw, 'paths'))) {
    // The plugin converts only parameters that are a whole path segment.
    const named = path.replace(/:(\w+)/g, '{$1}')
    const own = named.replace(/(.)\/$/, '$1') || '/'
    paths[own] = mapValues(recordOf(methods), (given) =>
      operationOf(recordOf(given), info, responseSchemas),
    )
  }
  const { title, version, description, server, key, session, tags } = info
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
      headers: { ...headers, ...paymentHeaders },
      schemas: Object.fromEntries(responseSchemas.named),
    },
  }
}

const headers = {
  RequestId: {
    description: 'The id of this request, for the operator.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 1 },
  },
}
const requestId = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }
const retryAfter = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }

function operationOf(given: Node, info: ApiInfo, schemas: Schemas): Node {
  // `operation` is our declaration (operation.ts), which is not a part of OpenAPI.
  const { parameters, requestBody, responses, operationId, operation, ...rest } = given
  const isPaid = takesPayments(recordOf(operation)['errors'])
  const allParameters = [...itemsOf(parameters), ...paymentParameters(isPaid)]
  const body = requestBody === undefined ? undefined : recordOf(requestBody)
  return {
    operationId,
    ...rest,
    ...(allParameters.length > 0 && {
      parameters: allParameters.map((parameter) => parameterOf(recordOf(parameter), info)),
    }),
    ...(body && {
      requestBody: {
        required: !info.optionalBodies.has(String(operationId)),
        content: contentOf(recordOf(body['content']), {}, inputs),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(recordOf(responses)).map(([status, response]) => [
        status,
        responseOf(status, recordOf(response), schemas, paymentHeadersOf(status, isPaid)),
      ]),
    ),
  }
}

function parameterOf(given: Node, info: ApiInfo): Node {
  const { schema, ...rest } = given
  const known = given['in'] === 'path' ? info.parameters[String(given['name'])] : undefined
  const own = recordOf(inputs.plain(schema))
  const typed = own['type'] === 'string' && !own['pattern'] ? (known?.schema ?? own) : own
  return { description: known?.description, ...rest, schema: typed }
}

const phrases: Record<string, string> = {
  200: 'OK.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'No content.',
  206: 'The part that `Range` requested.',
  302: 'Redirect to `Location`.',
  304: 'Not changed since the `ETag` of `If-None-Match`. The response has no body.',
  416: 'The requested range starts after the end. The response has no body.',
}

/** The plugin moves keywords of a schema next to `content`. This moves them back. */
function responseOf(status: string, given: Node, schemas: Schemas, more: Node): Node {
  const { content: offered, description, ...keywords } = given
  const isEmpty = /^(204|304|416)$/.test(status)
  const content = isEmpty ? {} : contentOf(recordOf(offered), keywords, schemas)
  return {
    description: description ?? lookUp(phrases, status) ?? codesIn(content),
    headers: { ...requestId, ...(status === '429' && retryAfter), ...more },
    content,
  }
}

/** Returns the codes of an error response, as its description. */
function codesIn(content: Node): string {
  const [media] = Object.values(content)
  const { enum: codes } = at(at(at(media, 'schema'), 'properties'), 'code')
  return Array.isArray(codes) ? codes.join(', ') : 'Error.'
}

/**
 * Returns a body by media type. The plugin offers three types for each; ours is that of the schema,
 * or else JSON. Media types that an operation declares stay.
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

/** Returns a schema for each media type of a response that is JSON or another type. */
function byMedia(schema: Node): Node[] {
  const { anyOf } = schema
  const parts = Array.isArray(anyOf) ? anyOf.map(recordOf) : []
  return parts.some((part) => part['contentMediaType']) ? parts : [schema]
}

const inside = new Set(['items', 'not', 'anyOf', 'oneOf', 'allOf'])

/**
 * Converts schemas to plain JSON Schema 2020-12 and collects those with a title. Requests have only
 * the named fields. Responses may get more fields, so `additionalProperties: false`, which Elysia
 * adds to them, is dropped.
 */
class Schemas {
  readonly named = new Map<string, unknown>()

  constructor(private readonly isInput: boolean) {}

  /** Returns a schema, or a reference to one with a title. Throws for two schemas of one title. */
  of(given: unknown): unknown {
    if (!isRecord(given)) return this.plain(given)
    const { title, ...schema } = given
    // A component is a response, which may have more fields than a request.
    if (this.isInput || typeof title !== 'string') return this.plain(schema)
    const { described, ...shared } = schema
    const plain = this.plain(shared)
    const known = this.named.get(title)
    if (known && !Bun.deepEquals(known, plain)) {
      throw new Error(`two schemas have the title ${title}`)
    }
    this.named.set(title, plain)
    const ref = { $ref: `#/components/schemas/${title}` }
    // Generators of clients ignore keywords beside $ref.
    const parts = itemsOf(recordOf(described)['allOf']).map((part) => this.plain(part))
    return parts.length > 0 ? { allOf: [ref, ...parts] } : ref
  }

  /** Returns the converted schema. */
  plain(given: unknown): unknown {
    if (Array.isArray(given)) return given.map((part) => this.of(part))
    if (!isRecord(given)) return given
    const { $id: _, additionalProperties: more, ...keywords } = given
    const schema: Node = {}
    for (const [name, value] of Object.entries(keywords)) {
      const isMap = name === 'properties' || name === 'patternProperties'
      if (isMap) schema[name] = mapValues(recordOf(value), (property) => this.of(property))
      else if (name === 'charsMax') schema['maxLength'] = value
      else if (name === 'described') Object.assign(schema, value)
      else schema[name] = inside.has(name) && typeof value === 'object' ? this.of(value) : value
    }
    if (typeof more === 'object' || (more === false && this.isInput))
      schema['additionalProperties'] = this.of(more)
    return withConditionsApart(simplify(schema))
  }
}

/** Moves conditions on fields into `allOf`: beside the fields, generators read them as a union. */
function withConditionsApart(schema: Node): Node {
  const { anyOf, oneOf, ...fields } = schema
  if (!schema['properties'] || !(anyOf || oneOf)) return schema
  return { ...fields, allOf: [...itemsOf(schema['allOf']), { anyOf, oneOf }] }
}

const inputs = new Schemas(true)

/**
 * Simplifies unions: texts become an enum, Elysia's "number or numeric text" a number, and "type or
 * null" one schema with two types. `nullable` exists only in OpenAPI 3.0.
 */
function simplify(given: Node): Node {
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
  const values = parts.flatMap((part) => (part['type'] === 'string' ? (part['enum'] ?? []) : []))
  if (values.length === parts.length) return { ...rest, type: 'string', enum: values }
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

/** The operations of an API by the start of their paths below its base URL. */
type OperationsByPrefix = Readonly<Record<string, readonly Operation[]>>

/** Descriptions by what differs between servers. */
const descriptions = new Cache<Promise<Entity>>(8)

/** Returns the OpenAPI 3.1 description of an API, which takes long to create. */
export function describeApi(
  operations: OperationsByPrefix,
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const key = [info.title, info.server, info.session].join(' ')
  const known = descriptions.get(key)
  if (known) return known
  const created = createDescription(operations, info)
  descriptions.set(key, created)
  return created
}

/** Creates the OpenAPI 3.1 description of an API. */
async function createDescription(
  operations: OperationsByPrefix,
  info: Omit<ApiInfo, 'optionalBodies'>,
): Promise<Entity> {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({ excludeStaticFile: false, specPath: '/raw' })
  const routes = Object.entries(operations).flatMap(([prefix, some]) =>
    some.map((operation) => routeOf(operation, prefix)),
  )
  // Elysia gives the plugin the routes of the app that uses it. This one reads only the API's.
  Object.assign(plugin, { getGlobalRoutes: () => routes })
  const raw: unknown = await (await plugin.handle(new Request('http://localhost/raw'))).json()
  const optionalBodies = new Set(
    Object.values(operations)
      .flat()
      .filter(({ input: { body } }) => typeof body === 'object' && TypeGuard.IsOptional(body))
      .map(({ id }) => id),
  )
  const document = toOpenApi31(raw, { ...info, optionalBodies })
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache' }
  return createEntity(compressText(JSON.stringify(document)), headers)
}

/** Returns the route of an operation with its declaration, as Elysia's plugin reads it. */
function routeOf(operation: Operation, prefix: string) {
  const { method, path, input, id, tag, summary, description, access, errors } = operation
  const { params, query, body, bodies } = input
  return {
    method,
    // The plugin leaves out paths that end with a wildcard, which is the rest of the path.
    path: (prefix + path).replace('*', ':path'),
    hooks: {
      params,
      query,
      body: body === 'none' ? undefined : body,
      response: responsesOf(operation),
      detail: {
        operationId: id,
        tags: [tag],
        summary,
        ...(description && { description }),
        ...(bodies && { requestBody: { required: true, content: bodies } }),
        ...(operation.idempotent &&
          access.idempotencyHeader && { parameters: [access.idempotencyHeader] }),
        security: access.security,
        operation: { errors },
      },
    },
  }
}

/** Returns the schemas of all responses. 202 is a running job, and a pending payment. */
function responsesOf({ output, errorSchemas }: Operation) {
  const responses = { ...output }
  for (const [status, schema] of Object.entries(errorSchemas())) {
    const success = output[Number(status)]
    responses[Number(status)] = success ? Type.Union([success, schema]) : schema
  }
  return responses
}
