import { type TSchema, Type } from '@sinclair/typebox'

import { isWriteUnavailable } from '../kernel/db/error.ts'
import { ApiError, type GatewayErrorName, mediaCodes } from '../kernel/errors.ts'
import { methodList } from '../kernel/http/allowed-methods.ts'
import type { ErrorReply } from '../kernel/http/response.ts'
import { type Described, namedObject, nullable } from '../kernel/schema.ts'
import { StoredError } from '../money/idempotency/idempotency.ts'
import { UnsettledHoldError } from '../money/ledger/paid-work.ts'
import { offerFields } from '../money/payments/x402/headers.ts'
import { messages, paramOf, withNames } from './error-messages.ts'

const invalid = 'invalid_request_error'
const limit = 'rate_limit_error'
const api = 'api_error'

/** `final`: a repeated request fails again or is charged again. */
type Row = [
  status: number,
  type: string,
  param?: string | null,
  code?: string | null,
  retry?: 'final',
]

/** Document 2, section 7, in its order. The messages are in error-messages.ts. */
const table: { [N in GatewayErrorName]: Row } = {
  // Before the model runs. Nothing is charged; a hold is released.
  no_messages: [400, invalid, 'messages'],
  bad_role: [400, invalid, 'messages'],
  no_usable_messages: [400, invalid, 'messages'],
  conversation_too_long: [400, invalid, 'messages'],
  no_price: [400, invalid, 'model'],
  no_key: [401, 'authentication_error'],
  bad_key: [401, 'authentication_error', null, 'invalid_api_key'],
  not_enough_credits: [402, 'insufficient_quota', null, 'insufficient_quota', 'final'],
  bad_payment: [400, invalid, null, 'bad_payment'],
  payment_rejected: [402, 'insufficient_quota', null, 'payment_rejected', 'final'],
  payment_used: [409, invalid, null, 'payment_used', 'final'],
  payment_pending: [202, api, null, 'payment_pending'],
  no_model: [404, invalid, 'model', 'model_not_found'],
  daily_cap: [429, limit, null, 'daily_cap', 'final'],
  rate_limited: [429, limit],
  search_off: [400, invalid, 'web_search', 'W206'],
  model_cannot_search: [400, invalid, 'web_search', 'W207'],
  searches_limit: [429, limit, 'web_search', 'W109'],
  no_image_input: [400, invalid, 'messages'],
  no_file_input: [400, invalid, 'messages'],
  bad_part: [400, invalid, 'messages'],
  no_file: [404, invalid, 'file_id'],
  too_many_pdfs: [413, invalid, 'messages'],
  window_exceeded: [413, invalid, 'messages', 'context_length_exceeded'],
  bad_media: [400, invalid, 'messages'], // the code, W203 or W605 to W611, is in the details
  upload_type: [415, invalid, 'file', 'W604'],
  upload_too_large: [413, invalid, 'file', 'W605'],
  upload_unreadable: [400, invalid, 'file', 'W610'],
  model_unavailable: [503, api],
  gateway_unavailable: [502, api],

  // After the model has run. The last two charge the hold.
  upstream_busy: [429, limit],
  content_policy: [400, invalid, null, 'content_policy_violation', 'final'],
  guardrail_refused: [400, invalid, null, 'content_policy_violation', 'final'],
  guardrail_failed: [503, api],
  upstream_failed: [502, api],
  upstream_rejected: [400, api, null, null, 'final'], // or context_length_exceeded
  no_content: [502, api],
  unreadable: [502, api, null, 'unreadable_response', 'final'],
  deadline: [504, api, null, 'deadline_exceeded', 'final'],

  // Errors that document 2 does not list.
  key_expired: [401, 'authentication_error', null, 'key_expired'],
  model_not_allowed: [403, 'permission_error', 'model', 'model_not_allowed'],
  key_rate: [429, limit, null, 'key_rate'],
  budget_exceeded: [429, limit, null, 'budget_exceeded', 'final'],
  key_above_own: [403, 'permission_error', null, 'key_above_own'],
  bad_request: [400, invalid],
  too_large: [413, invalid],
  not_found: [404, invalid],
  invite_only: [403, 'permission_error'],
  keys_address_limit: [429, limit, null, null, 'final'],
  last_key: [409, invalid, null, null, 'final'],
  files_full: [409, invalid, 'file', null, 'final'],
  uploads_limit: [429, limit, 'file', null, 'final'],
  cap_above_own: [403, 'permission_error', 'daily_cap'],
  holds_limit: [429, limit],
  ref_conflict: [409, invalid, null, 'idempotency_conflict', 'final'],
  busy: [409, invalid, null, 'in_progress'],
  try_again: [503, api],
  topups_limit: [429, limit, null, 'topups_limit'],
  no_rate: [503, api, null, 'no_rate'],
  needs_websocket: [426, invalid, null, 'no_websocket', 'final'],
  session_idle: [408, invalid, null, 'session_idle', 'final'],
  session_expired: [408, invalid, null, 'session_expired', 'final'],
  server_stops: [503, api, null, 'server_stops'],
  session_broken: [502, api, null, 'session_broken'],
  payments_off: [503, api, null, 'payments_off', 'final'],
}

/** The body of an error (document 2, section 7). */
export interface Envelope {
  error: { message: string; type: string; param: string | null; code: string | null }
}

/** OpenAI clients read this before an automatic retry. */
const final = { 'x-should-retry': 'false' }

/** Returns the status, headers and body of an error. The headers control automatic retries. */
export function errorEnvelope<N extends GatewayErrorName>(error: ApiError<N>) {
  const { errorName, details, fieldNames } = error
  const [status, type, param = null, code = null, retry] = table[errorName]
  const values: EnvelopeDetails = details[0] ?? {}
  const headers: Record<string, string> = {}
  if (retry) Object.assign(headers, final)
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  if (status === 426) headers.upgrade = 'websocket'
  // Of the 409 errors, only `busy` is temporary.
  const isTemporary = status === 202 || status === 429 || status === 503 || errorName === 'busy'
  const wait = values.retryAfter ?? (isTemporary ? 1 : undefined)
  if (wait !== undefined) headers['retry-after'] = String(wait)
  const field = values.param ?? param
  const message = withNames(messages[errorName](...details), field, fieldNames)
  const own = { param: paramOf(field, fieldNames), code: values.code ?? code }
  const body: Envelope = { error: { message, type, ...own } }
  return { status, headers, body }
}

/** Details that go into headers or the envelope. */
interface EnvelopeDetails {
  retryAfter?: number | undefined
  code?: string
  param?: string
}

/** Returns an error with a charge, as a repeated request under its idempotency key throws it. */
export function storedError(error: ApiError<GatewayErrorName>): StoredError {
  const { status, body } = errorEnvelope(error)
  return new StoredError(status, body)
}

/** Returns a stored error as its client gets it again. */
export const repeatedError = ({ status, value: body }: StoredError): ErrorReply => ({
  status,
  headers: final,
  body,
})

/**
 * Returns the status, headers and body of any error; undefined for one that is not of this API. A
 * database or disk that is temporarily unable to write gives `try_again`.
 */
export function findEnvelope(error: unknown): ErrorReply | undefined {
  if (error instanceof StoredError) return repeatedError(error)
  if (isGatewayError(error)) return errorEnvelope(error)
  return isWriteUnavailable(error) ? errorEnvelope(new ApiError('try_again', {})) : undefined
}

export const isGatewayError = (error: unknown): error is ApiError<GatewayErrorName> =>
  error instanceof ApiError && Object.hasOwn(table, error.errorName)

interface AddressLimit {
  max: number
  retryAfter: number
}

/** Returns the only error without the envelope: too many requests from an address. */
export function addressLimit({ max, retryAfter }: AddressLimit): ErrorReply {
  const message =
    max === 0
      ? 'The operator of this server blocked your network. Contact the operator.'
      : `Rate limit exceeded: ${max} requests a minute. Retry in ${retryAfter} seconds.`
  const body = { statusCode: 429, error: 'Too Many Requests', message }
  return { status: 429, headers: { 'retry-after': String(retryAfter) }, body }
}

/** Returns the envelope of an internal error. Its cause is only in the log, under `requestId`. */
export function internalError(requestId: string, error: unknown) {
  const isCharged = error instanceof UnsettledHoldError
  const charged = isCharged
    ? 'The call is charged when the database recovers. GET /v1/queries/history shows the charge.'
    : 'Nothing was charged.'
  const message = `This server failed with an internal error. ${charged} Send the operator this request id: ${requestId}`
  const body: Envelope = { error: { message, type: api, param: null, code: 'internal' } }
  const headers: Record<string, string> = isCharged ? final : {}
  return { status: 500, headers, body }
}

/**
 * Returns the error of a path without this method: 405 with `allowed`, or 404 without any.
 * `instead` names the right path.
 */
export function unknownOperation(
  method: string,
  path: string,
  allowed: readonly string[],
  instead = 'GET /v1/openapi.json lists the operations.',
): ErrorReply {
  const envelope = (message: string, code: string): Envelope => ({
    error: { message, type: invalid, param: null, code },
  })
  if (allowed.length === 0) {
    const message = `${method} ${path} does not exist. ${instead}`
    return { status: 404, headers: {}, body: envelope(message, 'unknown_url') }
  }
  const message = `${path} does not support ${method}. Use ${methodList(allowed)}. ${instead}`
  const headers = { allow: allowed.join(', '), ...final }
  return { status: 405, headers, body: envelope(message, 'method_not_supported') }
}

/** Returns the error of a WebSocket handshake. Clients then use HTTP without more attempts. */
export function noUpgrade(path: string): ErrorReply {
  const message = `${path} has no WebSocket. Send the request with POST over HTTP.`
  const body: Envelope = { error: { message, type: invalid, param: null, code: 'no_websocket' } }
  return { status: 426, headers: { upgrade: 'HTTP/1.1', ...final }, body }
}

const ErrorSchema = namedObject('Error', {
  error: Type.Object({
    message: Type.String({ description: 'The reason, and what to do next.' }),
    type: Type.String(),
    param: nullable(Type.String()),
    code: nullable(Type.String()),
  }),
})

/** The offer in an error of a call that a payment of an agent makes succeed. */
const offer = Type.Partial(Type.Object(offerFields)).properties
const withOffer = ({ title: _, properties, ...schema }: TSchema): TSchema => ({
  ...schema,
  properties: { ...properties, ...offer },
})

const RateLimitSchema = namedObject('TooManyRequests', {
  statusCode: Type.Literal(429),
  error: Type.String(),
  message: Type.String(),
})

/** The codes of errors whose details choose one. */
const codesInDetails: { [N in GatewayErrorName]?: readonly (string | null)[] } = {
  bad_media: mediaCodes,
  upstream_rejected: [null, 'context_length_exceeded'],
}

const codesOf = (name: GatewayErrorName): readonly (string | null)[] =>
  codesInDetails[name] ?? [table[name][3] ?? null]

/** The codes of an error, beside the schema of the envelope that all errors share. */
const codesSchema = (names: readonly GatewayErrorName[]): Described => {
  const code = { enum: [...new Set(names.flatMap(codesOf))] }
  return { described: { allOf: [{ properties: { error: { properties: { code } } } }] } }
}

/**
 * Returns the schema of the envelope with the codes of errors inside. An offer makes it an object
 * of its own, and generators would give both objects named `error` one name.
 */
const errorWith = (names: readonly GatewayErrorName[]): TSchema =>
  Type.Object({
    error: Type.Object({
      ...ErrorSchema.properties.error.properties,
      code: Type.String({ enum: [...new Set(names.flatMap(codesOf))] }),
    }),
  })

/** Returns the schema of a status. `envelope` replaces OpenAI's. */
function bodySchema(status: number, names: GatewayErrorName[], envelope?: TSchema): TSchema {
  if (status === 402) return withOffer(envelope ?? errorWith(names))
  const schema = envelope ?? { ...ErrorSchema, ...codesSchema(names) }
  return status === 429 && !envelope ? Type.Union([schema, RateLimitSchema]) : schema
}

/**
 * Returns the function that lists the schemas of an operation's errors, by status. `envelope`
 * replaces OpenAI's.
 */
export const errorSchemas =
  (envelope?: TSchema) =>
  (names: readonly GatewayErrorName[]): Record<number, TSchema> => {
    const byStatus = Map.groupBy(names, (name) => table[name][0])
    const typed = [...byStatus].map(([status, group]): [number, TSchema] => {
      const description = group.map((name) => table[name][3] ?? name).join(', ')
      return [status, { ...bodySchema(status, group, envelope), description }]
    })
    return Object.fromEntries(typed)
  }
