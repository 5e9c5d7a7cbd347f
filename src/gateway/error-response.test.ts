import { expect, test } from 'bun:test'

import { ApiError, type DetailsOf, type GatewayErrorName } from '../kernel/errors.ts'
import { errorEnvelope, findEnvelope } from './error-response.ts'

const wait = { max: 6, retryAfter: 7 }
const model = { model: 'maker/small' }
const why = { why: 'it is damaged' }

/** Document 2, section 7, in its order: status, type, and the code where it names one. */
const section7: Row[] = [
  row(400, 'invalid_request_error', null, 'no_messages'),
  row(400, 'invalid_request_error', null, 'bad_role', {}),
  row(400, 'invalid_request_error', null, 'no_usable_messages'),
  row(400, 'invalid_request_error', null, 'conversation_too_long', { max: 120_000 }),
  row(400, 'invalid_request_error', null, 'no_price', model),
  row(401, 'authentication_error', null, 'no_key'),
  row(401, 'authentication_error', 'invalid_api_key', 'bad_key'),
  row(402, 'insufficient_quota', 'insufficient_quota', 'not_enough_credits', {
    needed: 2_000_000_000n,
    available: 1n,
  }),
  row(404, 'invalid_request_error', 'model_not_found', 'no_model', model),
  row(429, 'rate_limit_error', 'daily_cap', 'daily_cap', { cap: 1_000_000n, spent: 5n }),
  row(400, 'invalid_request_error', 'W206', 'search_off'),
  row(400, 'invalid_request_error', 'W207', 'model_cannot_search', model),
  row(429, 'rate_limit_error', 'W109', 'searches_limit', wait),
  row(400, 'invalid_request_error', null, 'no_image_input', model),
  row(400, 'invalid_request_error', null, 'no_file_input', model),
  row(400, 'invalid_request_error', null, 'bad_part'),
  row(404, 'invalid_request_error', null, 'no_file', { id: 'file_1' }),
  row(413, 'invalid_request_error', null, 'too_many_pdfs', { max: 6 }),
  row(413, 'invalid_request_error', 'context_length_exceeded', 'window_exceeded', { window: 9 }),
  row(400, 'invalid_request_error', 'W609', 'bad_media', { code: 'W609', why: 'It is a video.' }),
  row(415, 'invalid_request_error', 'W604', 'upload_type'),
  row(413, 'invalid_request_error', 'W605', 'upload_too_large', { max: 9 }),
  row(400, 'invalid_request_error', 'W610', 'upload_unreadable', why),
  row(503, 'api_error', null, 'model_unavailable'),
  row(502, 'api_error', null, 'gateway_unavailable'),
  row(429, 'rate_limit_error', null, 'upstream_busy', { retryAfter: 7 }),
  row(400, 'invalid_request_error', 'content_policy_violation', 'content_policy'),
  row(400, 'invalid_request_error', 'content_policy_violation', 'guardrail_refused', {
    reason: undefined,
  }),
  row(503, 'api_error', null, 'guardrail_failed'),
  row(502, 'api_error', null, 'upstream_failed', {}),
  row(400, 'api_error', null, 'upstream_rejected', {}),
  row(502, 'api_error', null, 'no_content'),
  row(502, 'api_error', 'unreadable_response', 'unreadable'),
  row(504, 'api_error', 'deadline_exceeded', 'deadline'),
]

interface Row {
  name: GatewayErrorName
  expected: { status: number; type: string; code: string | null }
  envelope: ReturnType<typeof errorEnvelope>
}

function row<N extends GatewayErrorName>(
  status: number,
  type: string,
  code: string | null,
  name: N,
  ...details: DetailsOf<N>
): Row {
  const envelope = errorEnvelope(new ApiError<N>(name, ...details))
  return { name, expected: { status, type, code }, envelope }
}

test.each(section7)('$name has its status, type and code', ({ expected, envelope }) => {
  const { message, type, code } = envelope.body.error
  expect({ status: envelope.status, type, code }).toEqual(expected)
  expect(Object.keys(envelope.body.error).toSorted()).toEqual(['code', 'message', 'param', 'type'])
  expect(message).toMatch(/^["\p{L}$].*\.$/su)
})

test('a message repeats only the beginning of an unknown id', () => {
  const { message } = errorEnvelope(new ApiError('no_model', { model: 'x'.repeat(1_000_000) })).body
    .error
  expect(message.length).toBeLessThan(300)
})

test('messages have amounts in plain digits', () => {
  const envelopes = [
    errorEnvelope(new ApiError('not_enough_credits', { needed: 1_000_000_001n, available: 1n })),
    errorEnvelope(new ApiError('daily_cap', { cap: 1_000_000n, spent: 900n })),
  ]
  expect(envelopes.map(({ body }) => body.error.message.match(/\$[\de.-]*\d/g))).toEqual([
    ['$1.000000001', '$0.000000001'],
    ['$0.001', '$0.0000009'],
  ])
})

test('a cap of 0 does not end at midnight', () => {
  const errorWith = (cap: bigint) =>
    errorEnvelope(new ApiError('daily_cap', { cap, spent: 0n })).body.error
  expect(errorWith(1n).message).toEndWith('Raise the cap, or wait until 00:00 UTC.')
  expect(errorWith(0n).message).toEndWith('Ask its owner to change that.')
})

test('only the two charged errors mention the charge', () => {
  const charged = section7.filter(({ envelope }) =>
    envelope.body.error.message.includes('reserved credits were charged'),
  )
  expect(charged.map(({ name }) => name)).toEqual(['unreadable', 'deadline'])
})

test('429 and 503 have retry-after, and final errors have x-should-retry', () => {
  for (const { name, envelope } of section7) {
    const isTemporary = [429, 503].includes(envelope.status)
    expect([name, 'retry-after' in envelope.headers]).toEqual([name, isTemporary])
  }
  const final = section7.filter(({ envelope }) => envelope.headers['x-should-retry'] === 'false')
  expect(final.map(({ name }) => name)).toEqual([
    'not_enough_credits',
    'daily_cap',
    'content_policy',
    'guardrail_refused',
    'upstream_rejected',
    'unreadable',
    'deadline',
  ])
  const { headers } = errorEnvelope(new ApiError('searches_limit', wait))
  expect(headers['retry-after']).toBe('7')
  expect(errorEnvelope(new ApiError('busy', { what: 'x' })).headers).toEqual({ 'retry-after': '1' })
  for (const conflict of [
    errorEnvelope(new ApiError('last_key')),
    errorEnvelope(new ApiError('files_full', { files: 1, bytes: 1, isFunded: true })),
    errorEnvelope(new ApiError('ref_conflict', { ref: 'x' })),
  ]) {
    expect(conflict).toMatchObject({ status: 409, headers: { 'x-should-retry': 'false' } })
    expect(conflict.headers).not.toHaveProperty('retry-after')
  }
})

test('an error that is not in the table is an internal error', () => {
  for (const error of [new Error('x'), new ApiError('games_off'), undefined, 'text']) {
    expect(findEnvelope(error)).toBeUndefined()
  }
  expect(findEnvelope(new ApiError('busy', { what: 'x' }))?.status).toBe(409)
})
