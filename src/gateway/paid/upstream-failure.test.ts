import { expect, setSystemTime, test } from 'bun:test'

import { errorEnvelope } from '../error-response.ts'
import { parseRetryAfter } from '../providers/error-body.ts'
import { failureOfErrorBody, failureOfRejection } from './upstream-failure.ts'

/** Returns the failure of a status, with the header Retry-After. */
const failureOf = (status: number, after?: string, body = {}) =>
  failureOfRejection({ status, body, retryAfter: parseRetryAfter(after) })

const reported = (status: number) => {
  const { error: failure, charges, canTryNext: another } = failureOf(status)
  return [failure.errorName, charges, another]
}

test('a retryable status is a failure of the upstream, and another one is tried', () => {
  for (const status of [408, 425, 500, 503, 599]) {
    expect([status, ...reported(status)]).toEqual([status, 'upstream_failed', 'nothing', true])
  }
  expect(reported(404)).toEqual(['upstream_rejected', 'nothing', true])
  expect(reported(422)).toEqual(['upstream_rejected', 'nothing', false])
})

test("an upstream failure has the upstream's Retry-After, or none", () => {
  const headersOf = (after?: string) => errorEnvelope(failureOf(503, after).error).headers
  expect(headersOf('7')).toEqual({ 'retry-after': '7' })
  expect(headersOf()).toEqual({})
})

test('Retry-After of a 429 is the upstream’s, in seconds or as a date, up to an hour', () => {
  const waitOf = (received: string): unknown => {
    const { error: failure } = failureOf(429, received)
    return Object(failure.details.at(0)).retryAfter
  }
  setSystemTime(Date.UTC(2026, 0, 1))
  const soon = new Date(Date.UTC(2026, 0, 1, 0, 0, 30)).toUTCString()
  expect([waitOf('7'), waitOf('0.2'), waitOf('90000')]).toEqual([7, 1, 3_600])
  expect(waitOf(soon)).toBe(30)
  setSystemTime()
  for (const nothing of ['', '0', '-3', 'soon', 'Sat, 01 Jan 2000 00:00:00 GMT', 'Infinity']) {
    expect([nothing, waitOf(nothing)]).toEqual([nothing, nothing === 'Infinity' ? 3_600 : 1])
  }
})

test('the reason of a rejection is passed on, except for unknown models', () => {
  const wordsAt = (status: number) => {
    const received = { error: { message: 'Too long.', code: 'context_length_exceeded' } }
    return errorEnvelope(failureOf(status, undefined, received).error).body.error
  }
  const plain =
    'The provider rejected this request. Nothing was charged. Change it before you retry.'
  expect(wordsAt(400)).toEqual({
    message: `${plain} Reason: Too long.`,
    type: 'api_error',
    param: null,
    code: 'context_length_exceeded',
  })
  expect(wordsAt(404)).toEqual({ message: plain, type: 'api_error', param: null, code: null })
})

test('an error in a response body has no upstream text, which may contain the key', () => {
  const { error: failure } = failureOfErrorBody({ code: 400, message: 'sk-secret is no key.' })
  expect(failure.errorName).toBe('upstream_rejected')
  expect(errorEnvelope(failure).body.error.message).not.toContain('sk-secret')
})
