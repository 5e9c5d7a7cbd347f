import { ParseError, ValidationError } from 'elysia'

import { toUsd } from '../core/money.ts'
import { faultOf } from '../db/fault.ts'
import { type FactsOf, type GatewayRefusal, Refusal } from '../refusals.ts'

type Type =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'insufficient_quota'
  | 'rate_limit_error'
  | 'api_error'

interface Row<N extends GatewayRefusal> {
  status: number | ((...facts: FactsOf<N>) => number)
  type: Type
  code?: string | ((...facts: FactsOf<N>) => string)
  param?: string
  say(...facts: FactsOf<N>): string
  /** A client that sends the same again is refused again, or charged again. */
  final?: true
}

const invalid = 'invalid_request_error'
const usd = (amount: bigint): string => `$${toUsd(amount)}`
const wait = ({ retryAfter }: { retryAfter: number }): string => `Try again in ${retryAfter} s.`
const uncharged = 'Nothing was charged.'
const charged = 'The reserved credits were charged, because the upstream bills it.'

/** Section 7 of document 2, line by line: status, type, code, param, and what to do. */
const table: { [N in GatewayRefusal]: Row<N> } = {
  // Before the model runs: nothing is charged, any hold is released.
  no_messages: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: () => 'Send "messages": an array with at least one message.',
  },
  bad_role: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: () =>
      'A role is system, user or assistant; tool only as the answer to an earlier tool call.',
  },
  no_usable_messages: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: () => 'No message has content to answer. Send one with text.',
  },
  conversation_too_long: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: ({ max }) => `The conversation is over ${max} characters. Trim it.`,
  },
  no_rate: {
    status: 400,
    type: invalid,
    param: 'model',
    say: ({ model }) => `The model ${model} has no published rate. Pick one of GET /v1/models.`,
  },
  no_key: {
    status: 401,
    type: 'authentication_error',
    say: () => 'Send your key as Authorization: Bearer <API_KEY>. POST /accounts/create makes one.',
  },
  bad_key: {
    status: 401,
    type: 'authentication_error',
    say: () => 'This key is not valid. Check the Authorization header.',
  },
  account_closed: {
    status: 401,
    type: 'authentication_error',
    say: () => 'The account of this key is closed.',
  },
  not_enough_credits: {
    status: 402,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    final: true,
    say: ({ needed, available }) =>
      `This request can cost ${usd(needed)} and you have ${usd(available)}. ` +
      'Add credits, or lower max_tokens.',
  },
  no_model: {
    status: 404,
    type: invalid,
    code: 'model_not_found',
    param: 'model',
    say: ({ model }) => `There is no model ${model}. Use an exact id of GET /v1/models.`,
  },
  daily_cap: {
    status: 429,
    type: 'rate_limit_error',
    code: 'daily_cap',
    final: true,
    say: ({ cap, spent }) =>
      `This key may spend ${usd(cap)} a day and has spent ${usd(spent)}. ` +
      'Raise the cap, or wait until 00:00 UTC.',
  },
  holds_limit: {
    status: 429,
    type: 'rate_limit_error',
    say: (facts) => `This key has ${facts.max} requests running. ${wait(facts)}`,
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    say: (facts) => `More than ${facts.max} requests a minute. ${wait(facts)}`,
  },
  keys_address_limit: {
    status: 429,
    type: 'rate_limit_error',
    say: (facts) => `This address made its ${facts.max} new accounts of today. ${wait(facts)}`,
  },
  keys_daily_limit: {
    status: 429,
    type: 'rate_limit_error',
    say: (facts) => `All ${facts.max} new accounts of today are made. ${wait(facts)}`,
  },
  search_off: {
    status: 400,
    type: invalid,
    code: 'W206',
    param: 'web_search',
    say: () => 'This server has no web search. Drop web_search.',
  },
  model_cannot_search: {
    status: 400,
    type: invalid,
    code: 'W207',
    param: 'web_search',
    say: ({ model }) => `${model} cannot use web_search. Pick another model or drop it.`,
  },
  searches_limit: {
    status: 429,
    type: 'rate_limit_error',
    code: 'W109',
    say: (facts) => `More than ${facts.max} searching calls a minute. ${wait(facts)}`,
  },
  no_picture_input: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: ({ model }) => `${model} takes no pictures. Pick a model whose inputs have image.`,
  },
  no_file_input: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: ({ model }) =>
      `${model} takes no inline files. Upload it with POST /v1/files and send its file_id.`,
  },
  bad_part: {
    status: 400,
    type: invalid,
    param: 'messages',
    say: () => 'A content part is text, image_url, file, input_audio or video_url.',
  },
  no_file: {
    status: 404,
    type: invalid,
    param: 'file_id',
    say: ({ id }) => `There is no file ${id} on this account. Upload it again.`,
  },
  too_many_pdfs: {
    status: 413,
    type: invalid,
    say: ({ max }) => `A request takes at most ${max} PDF files. Send fewer.`,
  },
  window_exceeded: {
    status: 413,
    type: invalid,
    code: 'context_length_exceeded',
    say: ({ window }) =>
      `The request exceeds this model's window of ${window} tokens. ` +
      'Pick a bigger window or send less.',
  },
  bad_media: { status: 400, type: invalid, code: ({ code }) => code, say: ({ why }) => why },
  upload_refused: {
    status: ({ code }) => ({ W604: 415, W605: 413, W610: 400 })[code],
    type: invalid,
    code: ({ code }) => code,
    param: 'file',
    say: ({ why }) => why,
  },
  bad_request: { status: 400, type: invalid, say: ({ problem }) => problem },
  too_large: { status: 413, type: invalid, say: ({ max }) => `The body is over ${max} bytes.` },
  not_found: { status: 404, type: invalid, say: ({ what }) => `There is no such ${what}.` },
  invite_only: {
    status: 403,
    type: 'authentication_error',
    say: () => 'New accounts need the operator’s token: Authorization: Bearer <token>.',
  },
  last_key: {
    status: 409,
    type: invalid,
    say: () => 'This is the last key of the account. Make another before you revoke it.',
  },
  ref_conflict: {
    status: 409,
    type: invalid,
    code: 'idempotency_conflict',
    final: true,
    say: () => 'This Idempotency-Key was used for another request. Send a new one.',
  },
  busy: {
    status: 409,
    type: invalid,
    code: 'in_progress',
    say: () => 'The first request with this Idempotency-Key is still running.',
  },
  model_unavailable: {
    status: 503,
    type: 'api_error',
    say: () => `Access to this model is temporarily unavailable. ${uncharged} Retry shortly.`,
  },
  try_again: {
    status: 503,
    type: 'api_error',
    say: () => `This could not be done just now. ${uncharged} Retry shortly.`,
  },
  payments_off: {
    status: 503,
    type: 'api_error',
    code: 'payments_off',
    say: ({ setting }) => `Top-ups are not open here: the operator has not set ${setting}.`,
  },
  gateway_unavailable: {
    status: 502,
    type: 'api_error',
    say: () => `The model gateway could not be reached. ${uncharged} Retry with backoff.`,
  },
  // After the model has run.
  upstream_busy: {
    status: 429,
    type: 'rate_limit_error',
    say: (facts) => `The upstream is busy. ${uncharged} ${wait(facts)}`,
  },
  content_policy: {
    status: 400,
    type: invalid,
    code: 'content_policy_violation',
    final: true,
    say: () => `The provider declined this under its content rules. ${uncharged}`,
  },
  upstream_failed: {
    status: 502,
    type: 'api_error',
    say: () => `The provider failed. ${uncharged} Retry with backoff.`,
  },
  upstream_refused: {
    status: 400,
    type: 'api_error',
    final: true,
    say: () => `The provider refused this request. ${uncharged} Change it before you retry.`,
  },
  no_content: {
    status: 502,
    type: 'api_error',
    say: () => `The model returned no content. ${uncharged} Retry with backoff.`,
  },
  unreadable: {
    status: 502,
    type: 'api_error',
    code: 'unreadable_response',
    final: true,
    say: () => `The upstream's answer could not be read. ${charged} Look at your history first.`,
  },
  deadline: {
    status: 504,
    type: 'api_error',
    code: 'deadline_exceeded',
    final: true,
    say: () => `The model exceeded the deadline. ${charged} Look at your history first.`,
  },
}

/** The body of every refusal (document 2, section 7). */
export interface Envelope {
  error: { message: string; type: string; param: string | null; code: string | null }
}

const isOurs = (error: unknown): error is Refusal<GatewayRefusal> =>
  error instanceof Refusal && error.refusal in table

/** A refusal as this API's answer, with `retry-after` and `x-should-retry` where they help. */
function answerOf<N extends GatewayRefusal>(refusal: Refusal<N>): Response {
  const row: Row<N> = table[refusal.refusal]
  const { facts } = refusal
  const status = typeof row.status === 'function' ? row.status(...facts) : row.status
  const code = typeof row.code === 'function' ? row.code(...facts) : (row.code ?? null)
  const body: Envelope = {
    error: { message: row.say(...facts), type: row.type, param: row.param ?? null, code },
  }
  const headers: Record<string, string> = {}
  const { retryAfter = 1 }: { retryAfter?: number } = facts[0] ?? {}
  if (row.final) headers['x-should-retry'] = 'false'
  else if ([409, 429, 503].includes(status)) headers['retry-after'] = String(retryAfter)
  return Response.json(body, { status, headers })
}

/** The one answer without the envelope: too many requests from an address. */
export function tooManyRequests(max: number, retryAfter: number): Response {
  const message = `Rate limit exceeded: ${max} requests a minute. Retry in ${retryAfter} seconds.`
  const body = { statusCode: 429, error: 'Too Many Requests', message }
  return Response.json(body, { status: 429, headers: { 'retry-after': String(retryAfter) } })
}
