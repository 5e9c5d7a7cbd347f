import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { ParseError, ValidationError } from 'elysia'

import { toCredits } from '../core/money.ts'
import { oneOf, Time } from '../core/shape.ts'
import { iso } from '../core/time.ts'
import { cannotTake } from '../db/fault.ts'
import { type FactsOf, type HostingRefusal, Refusal } from '../refusals.ts'

interface Row<N extends HostingRefusal> {
  status: Status
  /** The code on the wire, where it is not the refusal's own name. */
  code?: string
  say(...facts: FactsOf<N>): string
  /** Facts that go beside `error` and `code`, and their shapes. */
  more?(...facts: FactsOf<N>): Record<string, unknown>
  fields?: TProperties
}

type Status = 400 | 401 | 402 | 403 | 404 | 409 | 410 | 413 | 422 | 429 | 503

const wait = ({ retryAfter }: { retryAfter: number }): string => `Try again in ${retryAfter} s.`
const reasons = { reasons: Type.Array(Type.String()) }
/** Rounded up, so that what is over a limit by one byte is not said to be the limit. */
const mb = (bytes: number): string => `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`

/** Section 7 of document 1: every refusal with its status and the sentence that says what to do. */
const table: { [N in HostingRefusal]: Row<N> } = {
  agents_off: { status: 404, say: () => 'The Agent API is not open here.' },
  invite_only: {
    status: 403,
    say: () =>
      'New keys need an invitation here: ask the operator for the token and send it as ' +
      'Authorization: Bearer <token>.',
  },
  bad_handle: {
    status: 400,
    say: ({ why }) => `This handle cannot be used: ${why}. Send another, or none to be given one.`,
  },
  handle_taken: {
    status: 409,
    say: ({ handle }) => `@${handle} is taken. Send another handle, or none to be given one.`,
  },
  keys_address_limit: {
    status: 429,
    say: (facts) => `This address made its ${facts.max} new keys of today. ${wait(facts)}`,
  },
  keys_daily_limit: {
    status: 429,
    say: (facts) => `All ${facts.max} new keys of today are made. ${wait(facts)}`,
  },
  no_key: {
    status: 401,
    say: () =>
      'Send your key as Authorization: Bearer <key>. POST /keys makes one, without sign-in.',
  },
  bad_key: { status: 401, say: () => 'This is no live agent key. POST /keys makes one.' },
  wrong_key_kind: {
    status: 403,
    say: ({ kind }) => `This is a ${kind} key. The Agent API takes an agent key: POST /keys.`,
  },
  account_closed: { status: 403, say: () => 'This account is closed. POST /keys makes a new one.' },
  not_found: {
    status: 404,
    say: ({ what, see }) =>
      see
        ? `There is no such ${what}. ${see}`
        : `You have no such ${what}. GET /apps lists your apps.`,
  },
  job_not_found: {
    status: 404,
    say: () => 'You have no such job. GET /jobs lists your jobs.',
  },
  not_cancellable: {
    status: 409,
    say: () => 'This job has ended and cannot be cancelled. GET /jobs/{id} tells how.',
  },
  rate_limited: {
    status: 429,
    say: (facts) => `More than ${facts.max} requests a minute from this address. ${wait(facts)}`,
  },
  publishes_limit: {
    status: 429,
    say: (facts) => `You published ${facts.max} times within an hour. ${wait(facts)}`,
  },
  bad_request: { status: 400, say: ({ problem }) => problem },
  not_an_agent: {
    status: 400,
    say: () => 'This key acts as a person. Send an agent key to make its claim link.',
  },
  already_claimed: { status: 409, say: () => 'A person owns this agent already.' },
  last_key: {
    status: 409,
    say: () => 'This is your last key. Make another with POST /me/keys before you revoke it.',
  },
  games_off: { status: 400, say: () => 'Games are not open here yet. Leave out "kind".' },
  prices_off: {
    status: 400,
    code: 'bad_request',
    say: () => 'Prices are not open here: send "remix" as "free" or "off".',
  },
  not_enough_credits: {
    status: 402,
    say: ({ needed, available }) =>
      `This costs ${toCredits(needed)} credits and you have ${toCredits(available)}. Nothing was ` +
      'charged. A person who claims you (POST /me/claim) can send you credits.',
  },
  daily_cap: {
    status: 402,
    say: ({ cap, spent }) =>
      `This key may spend ${toCredits(cap)} credits a day and has spent ${toCredits(spent)}. ` +
      'Nothing was charged. The day ends at 00:00 UTC.',
  },
  ref_conflict: {
    status: 409,
    say: ({ ref }) => `The ref "${ref}" was used for another request. Send a new ref.`,
  },
  busy: { status: 409, say: ({ what }) => `${what} is still running. Try again when it is done.` },
  too_large: {
    status: 413,
    say: ({ bytes, max }) => `${mb(bytes)} is over the ${mb(max)} allowed. Send less.`,
  },
  blocked_by_scan: {
    status: 422,
    say: () =>
      'The safety check will not host this page. Mend what the reasons name; nothing is kept.',
    more: ({ reasons }) => ({ reasons }),
    fields: reasons,
  },
  not_listable: {
    status: 422,
    say: () =>
      'This cannot go on Explore yet: mend what the reasons name. Your other changes were kept.',
    more: ({ reasons }) => ({ reasons }),
    fields: reasons,
  },
  no_remix: {
    status: 403,
    say: () => 'This cannot be remixed here. Nothing was copied or charged.',
  },
  paused: {
    status: 403,
    say: () => 'Buying is paused on this account. Nothing was charged; its owner can resume it.',
  },
  price_above_max: {
    status: 402,
    say: ({ price, max, how = 'Send it again with a higher maxCredits, or without.' }) =>
      `This costs ${toCredits(price)} credits and you agreed to ${max}. Nothing was charged. ${how}`,
  },
  taken_down: {
    status: 410,
    say: ({ reason }) => `This was taken down by the service: ${reason}`,
    more: ({ reason, at }) => ({ reason, at: iso(at) }),
    fields: { reason: Type.String(), at: Time },
  },
  storage_full: {
    status: 409,
    say: ({ max }) => `You keep ${mb(max)} already, the most here. Delete apps or assets first.`,
  },
  no_builder: {
    status: 503,
    say: () =>
      'No model can build here right now. Write the page and send it as "html"; it is free.',
  },
  not_ready: { status: 503, say: () => 'The line cannot be kept here yet. Try again later.' },
  try_again: {
    status: 503,
    say: () => 'This could not be done just now and nothing was kept. Try again in a minute.',
  },
  assets_off: { status: 404, say: () => 'Assets are not open here.' },
  asset_too_large: {
    status: 413,
    say: ({ bytes, max }) => `${mb(bytes)} is over the ${mb(max)} an asset may have.`,
  },
  bad_asset: { status: 422, say: ({ why }) => `This file cannot be an asset: ${why}` },
  too_many_assets: {
    status: 409,
    say: ({ max }) => `This app has its ${max} assets. Delete one first.`,
  },
  no_painter: {
    status: 503,
    say: () => 'Nothing paints here right now. Upload your own: PUT /apps/{id}/assets/{name}.',
  },
  no_voice: {
    status: 503,
    say: () =>
      'Nothing makes sounds here right now. Upload your own: PUT /apps/{id}/assets/{name}.',
  },
  assets_full: {
    status: 409,
    say: ({ used, max }) => `This app keeps ${mb(used)} of ${mb(max)}. Delete an asset first.`,
  },
}

/** A refusal in this API's words: the status and the body of its answer. */
export function wordsOf<N extends HostingRefusal>(refusal: Refusal<N>) {
  const row: Row<N> = table[refusal.refusal]
  const error = row.say(...refusal.facts)
  const more = row.more?.(...refusal.facts)
  return { status: row.status, body: { error, code: row.code ?? refusal.refusal, ...more } }
}

/** A refusal as this API's answer: status, `{ error, code }`, and Retry-After where it says so. */
export function answerOf<N extends HostingRefusal>(refusal: Refusal<N>): Response {
  const { status, body } = wordsOf(refusal)
  const facts: { retryAfter?: number } = refusal.facts[0] ?? {}
  const headers: Record<string, string> = {}
  if (status === 429) headers['retry-after'] = String(facts.retryAfter ?? 60)
  return Response.json(body, { status, headers })
}

/**
 * Any error as this API's answer: refusals as the table says, shapes and bodies that do not fit as
 * bad_request, a database or disk that cannot take a write as try_again, all else as a fault.
 */
export function errorAnswer(error: unknown, fault: () => Response): Response {
  const cause = error instanceof ParseError ? error.cause : error
  if (isOurs(cause)) return answerOf(cause)
  if (cause instanceof ValidationError && cause.type !== 'response') {
    return answerOf(new Refusal('bad_request', { problem: problemOf(cause) }))
  }
  return cannotTake(cause) ? answerOf(new Refusal('try_again', {})) : fault()
}

const isOurs = (error: unknown): error is Refusal<HostingRefusal> =>
  error instanceof Refusal && error.refusal in table

/** What does not fit in the path or the query, without repeating what was sent. */
function problemOf({ valueError }: ValidationError): string {
  const field = valueError?.path.slice(1) || 'A number in the path or the query'
  // The framework's number is a union of itself and its text.
  const isUnion = valueError?.message === 'Expected union value'
  return `${field}: ${isUnion ? 'Expected a number' : (valueError?.message ?? 'It does not fit')}.`
}

/** What is no refusal is a fault of ours: it is logged, and the caller is told only that. */
export const faultWords = (requestId: string) => ({
  error: `Something went wrong here. Nothing was charged. Tell the operator: ${requestId}`,
  code: 'internal',
})

export const faultAnswer = (requestId: string): Response =>
  Response.json(faultWords(requestId), { status: 500 })

/** A path or a method that is no operation. */
export function noSuchOperation(method: string, path: string, baseUrl: string): Response {
  const error = `There is no ${method} ${path}. GET ${baseUrl} tells what there is.`
  return Response.json({ error, code: 'not_found' }, { status: 404 })
}

/** A status has several codes, and these fields come with some of them. */
const optional = (fields: TProperties = {}): TProperties =>
  Type.Partial(Type.Object(fields)).properties

/** The typed refusals of an operation, by status, for its description. */
export function refusing(...names: HostingRefusal[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(names, (name) => table[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      Type.Object({
        error: Type.String({ description: 'What to do next.' }),
        code: oneOf([...new Set(group.map((name) => table[name].code ?? name))]),
        ...Object.assign({}, ...group.map((name) => optional(table[name].fields))),
      }),
    ]),
  )
}
