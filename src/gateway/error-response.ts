import { type TSchema, Type } from '@sinclair/typebox'

import { orNull } from '../core/schema.ts'
import { isWriteUnavailable } from '../db/error.ts'
import { ApiError, type GatewayErrorName } from '../errors.ts'
import { UnsettledHoldError } from '../ledger/paid-work.ts'
import { messages } from './messages.ts'

const invalid = 'invalid_request_error'
const limit = 'rate_limit_error'
const api = 'api_error'

/** `final`: the same request again is refused again, or charged again. */
type Row = [
  status: number,
  type: string,
  param?: string | null,
  code?: string | null,
  retry?: 'final',
]

/** Section 7 of document 2, in its order; what to do stands in sentences.ts. */
const table: { [N in GatewayErrorName]: Row } = {
  // Before the model runs: nothing is charged, any hold is released.
  no_messages: [400, invalid, 'messages'],
  bad_role: [400, invalid, 'messages'],
  no_usable_messages: [400, invalid, 'messages'],
  conversation_too_long: [400, invalid, 'messages'],
  no_price: [400, invalid, 'model'],
  no_key: [401, 'authentication_error'],
  bad_key: [401, 'authentication_error', null, 'invalid_api_key'],
  not_enough_credits: [402, 'insufficient_quota', null, 'insufficient_quota', 'final'],
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
  bad_media: [400, invalid, 'messages'], // its code, W203 or W605 to W611, is in its facts
  upload_type: [415, invalid, 'file', 'W604'],
  upload_too_large: [413, invalid, 'file', 'W605'],
  upload_unreadable: [400, invalid, 'file', 'W610'],
  model_unavailable: [503, api],
  gateway_unavailable: [502, api],

  // After the model has run; the last two charge the hold.
  upstream_busy: [429, limit],
  content_policy: [400, invalid, null, 'content_policy_violation', 'final'],
  upstream_failed: [502, api],
  upstream_rejected: [400, api, null, null, 'final'], // context_length_exceeded where it says so
  no_content: [502, api],
  unreadable: [502, api, null, 'unreadable_response', 'final'],
  deadline: [504, api, null, 'deadline_exceeded', 'final'],

  // What the document leaves open.
  bad_request: [400, invalid],
  too_large: [413, invalid],
  not_found: [404, invalid],
  invite_only: [403, 'permission_error'],
  keys_address_limit: [429, limit, null, null, 'final'],
  last_key: [409, invalid, null, null, 'final'],
  files_full: [409, invalid, 'file', null, 'final'],
  cap_above_own: [403, 'permission_error', 'daily_cap'],
  holds_limit: [429, limit],
  ref_conflict: [409, invalid, null, 'idempotency_conflict', 'final'],
  busy: [409, invalid, null, 'in_progress'],
  try_again: [503, api],
  payments_off: [503, api, null, 'payments_off', 'final'],
}

/** The body of every refusal (document 2, section 7). */
export interface Envelope {
  error: { message: string; type: string; param: string | null; code: string | null }
}

/** Clients that try again by themselves read this. */
export const final = { 'x-should-retry': 'false' }

/** A refusal in this API's words, with the headers that tell a client whether to try again. */
export function errorEnvelope<N extends GatewayErrorName>({
  errorName: refusal,
  details: facts,
}: ApiError<N>) {
  const [status, type, param = null, code = null, retry] = table[refusal]
  const varying: Varying = facts[0] ?? {}
  const headers: Record<string, string> = {}
  if (retry) Object.assign(headers, final)
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  // Of the conflicts only a first request that still runs goes by itself.
  const comesBack = status === 429 || status === 503 || refusal === 'busy'
  const wait = varying.retryAfter ?? (comesBack ? 1 : undefined)
  if (wait !== undefined) headers['retry-after'] = String(wait)
  const message = messages[refusal](...facts)
  const own = { param: varying.param ?? param, code: varying.code ?? code }
  const body: Envelope = { error: { message, type, ...own } }
  return { status, headers, body }
}

/** Facts that stand in the envelope itself. */
interface Varying {
  retryAfter?: number | undefined
  code?: string
  param?: string
}

/** A refusal as this API's answer. */
function apiErrorResponse<N extends GatewayErrorName>(refusal: ApiError<N>): Response {
  const { status, headers, body } = errorEnvelope(refusal)
  return Response.json(body, { status, headers })
}

/**
 * Any error as this API's answer: refusals as the table says, a database or disk that cannot take a
 * write as try_again, all else as a fault.
 */
export function errorResponse(error: unknown, fault: () => Response): Response {
  if (isGatewayError(error)) return apiErrorResponse(error)
  return isWriteUnavailable(error) ? apiErrorResponse(new ApiError('try_again', {})) : fault()
}

/** Whether an error is an expected no of this API. */
export const isGatewayError = (error: unknown): error is ApiError<GatewayErrorName> =>
  error instanceof ApiError && error.errorName in table

/** The one answer without the envelope: too many requests from an address. */
export function rateLimitResponse(max: number, retryAfter: number): Response {
  const message = `Rate limit exceeded: ${max} requests a minute. Retry in ${retryAfter} seconds.`
  const body = { statusCode: 429, error: 'Too Many Requests', message }
  return Response.json(body, { status: 429, headers: { 'retry-after': String(retryAfter) } })
}

/**
 * What is no refusal is a fault of ours: it is logged, and the caller is told only that, and what
 * becomes of the credits.
 */
export function internalErrorResponse(requestId: string, error: unknown): Response {
  const isCharged = error instanceof UnsettledHoldError
  const charged = isCharged
    ? 'What was held for this is charged within minutes: GET /v1/queries/history tells it.'
    : 'Nothing was charged.'
  const message = `Something went wrong here. ${charged} Tell the operator: ${requestId}`
  const body: Envelope = { error: { message, type: api, param: null, code: 'internal' } }
  return Response.json(body, { status: 500, headers: isCharged ? final : {} })
}

/** A path or a method that is no operation; `instead` says where to go. */
export function unknownOperationResponse(
  method: string,
  path: string,
  instead = 'GET /v1/openapi.json tells what there is.',
): Response {
  const message = `There is no ${method} ${path}. ${instead}`
  const body: Envelope = { error: { message, type: invalid, param: null, code: 'unknown_url' } }
  return Response.json(body, { status: 404 })
}

const Refused = Type.Object(
  {
    error: Type.Object({
      message: Type.String({ description: 'Why, and what to do next.' }),
      type: Type.String(),
      param: orNull(Type.String()),
      code: orNull(Type.String()),
    }),
  },
  { title: 'Error' },
)

const TooManyRequests = Type.Object(
  { statusCode: Type.Literal(429), error: Type.String(), message: Type.String() },
  { title: 'TooManyRequests' },
)

/** The typed refusals of an operation, by status, for its description. */
export function errorSchemas(names: readonly GatewayErrorName[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(names, (name) => table[name][0])
  const typed = [...byStatus].map(([status, group]): [number, TSchema] => {
    const description = group.map((name) => table[name][3] ?? name).join(', ')
    const shape = status === 429 ? Type.Union([Refused, TooManyRequests]) : Refused
    return [status, { ...shape, description }]
  })
  return Object.fromEntries(typed)
}
