import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { nativeStreams } from '../../testing/fakes/native-scripts.ts'
import {
  type Cell,
  ChargeTable,
  type NamedCell,
  plain,
  smoke,
  streamed,
} from '../../testing/fixtures/charge-table.ts'
import type { FakeUpstreamServer, NativeApi } from '../../testing/fixtures/fake-upstream-server.ts'
import { nativeCells } from '../../testing/fixtures/native-cells.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'

/** An API of clients: its request, its forms of responses and errors, and the cells it runs. */
interface ClientApi {
  path: string | ((model: string, stream: boolean) => string)
  body(model: string, stream: boolean): object
  /** The API of its upstreams, where they have the same. */
  native?: NativeApi
  plain: NamedCell[]
  streamed: NamedCell[]
  expectError(body: unknown, cell: Cell): void
  expectWhole(body: unknown, name: string): void
  expectStream(body: unknown, name: string): void
  /** Checks the end of a stream that failed. */
  expectEvent(body: unknown, cell: Cell, name: string): void
  /** Tests of the server after all cells. */
  afterwards?: [title: string, check: (t: FakeUpstreamServer) => void][]
}

const messages = [{ role: 'user', content: 'Say hello.' }]
const chatBody = (model: string, stream: boolean) => ({ model, messages, stream, max_tokens: 50 })
const text = fakeText.join('')

/** Parses the events of a stream whose names are the types of their data. */
const namedEvents = (body: unknown): Json[] =>
  String(body)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/^:.*\n+/gm, '')
    .trim()
    .split('\n\n')
    .filter((frame) => frame !== 'data: [DONE]')
    .map((frame) => {
      const [name = '', data = ''] = frame.split('\n')
      const event: unknown = JSON.parse(data.slice('data: '.length))
      if (!isRecord(event)) throw new Error('no event')
      expect(name).toBe(`event: ${String(event.type)}`)
      return event
    })
    .filter(({ type }) => type !== 'ping')

/** Parses the data of a stream without names. */
const dataOf = (body: unknown): Json[] =>
  String(body)
    .split(/\r?\n|\r/)
    .flatMap((line) => {
      const [, json] = /^data: ?(\{.*)$/.exec(line) ?? []
      return json === undefined ? [] : [JSON.parse(json)]
    })

const expectDone = (body: unknown): void => {
  const lines = String(body).split(/\r?\n|\r/)
  const data = lines.filter((line) => line.startsWith('data:'))
  expect(data.filter((line) => line.includes('[DONE]'))).toHaveLength(1)
  expect(data.at(-1)?.slice(5).trim()).toBe('[DONE]')
}

const chat: ClientApi = {
  path: '/v1/chat/completions',
  body: chatBody,
  plain,
  streamed,
  expectError: (body, { type = 'api_error', code = null }) =>
    expect(body).toMatchObject({ error: { type, code } }),
  expectWhole: (body) => expect(body).toMatchObject({ choices: [{ message: { content: text } }] }),
  expectStream: expectDone,
  expectEvent(body, { event, charge }) {
    expect(String(body)).not.toContain('[DONE]')
    const { error } = Object(dataOf(body).at(-1))
    expect(error).toMatchObject({ code: event, param: null })
    if (charge !== 'nothing') expect(error.message).not.toContain('Nothing was charged')
  },
  afterwards: [
    [
      'the target of a redirect is never contacted',
      ({ fake }) => expect(fake.canaryTouched()).toBe(0),
    ],
    [
      'the operator is warned of a rejected upstream key, which appears in no response and no log line',
      ({ warnings, lines }) => {
        const warned = warnings.filter(({ event }) => event === 'upstream.key_refused')
        expect(warned.map(({ status }) => status).toSorted()).toEqual([
          401, 401, 402, 402, 403, 403,
        ])
        expect(JSON.stringify([warnings, lines])).not.toContain('sk-fake')
      },
    ],
  ],
}

const completions: ClientApi = {
  ...smoke,
  expectStream: expectDone,
  expectEvent: chat.expectEvent,
  path: '/v1/completions',
  body: (model, stream) => ({ model, prompt: 'Say hello.', stream, max_tokens: 50 }),
  expectError: (body, { code }) =>
    expect(body).toMatchObject({ error: { message: expect.any(String), ...(code && { code }) } }),
  expectWhole: (body) =>
    expect(body).toMatchObject({ object: 'text_completion', choices: [{ text, index: 0 }] }),
}

const openrouter: ClientApi = {
  ...smoke,
  path: '/api/v1/chat/completions',
  body: (model, stream) => ({
    ...chatBody(model, stream),
    ...(stream && { stream_options: { include_usage: true } }),
  }),
  expectError(body, { status, code }) {
    expect(body).toMatchObject({ error: { code: status, message: expect.any(String) } })
    if (code) expect(body).toMatchObject({ error: { metadata: { error_code: code } } })
  },
  expectWhole: (body, name) =>
    expect(body).toMatchObject({
      id: expect.stringMatching(/^gen-/),
      provider: name,
      choices: [{ message: { content: text } }],
    }),
  expectStream(body) {
    expectDone(body)
    expect(new Set(dataOf(body).map(({ id }) => id)).size).toBe(1)
  },
  expectEvent(body, { event }) {
    const code = event === 'content_policy_violation' ? 403 : 502
    expect(dataOf(body).at(-1)).toMatchObject({ error: { code, metadata: { error_code: event } } })
    expect(String(body)).not.toContain('[DONE]')
  },
}

const anthropicTypes: Record<number, string> = {
  400: 'invalid_request_error',
  429: 'rate_limit_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}
const anthropic: ClientApi = {
  ...smoke,
  path: '/v1/messages?beta=true',
  body: chatBody,
  expectError(body, { status, code }) {
    const error = { type: anthropicTypes[status], message: expect.any(String) }
    expect(body).toMatchObject({ type: 'error', error, request_id: expect.any(String) })
    if (code) expect(body).toMatchObject({ error: { details: { error_code: code } } })
  },
  expectWhole: (body) =>
    expect(body).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
    }),
  expectStream(body) {
    const events = namedEvents(body)
    const deltas = events.filter(({ type }) => type === 'content_block_delta')
    expect(deltas.map(({ delta }) => recordOf(delta).text).join('')).toBe(text)
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      ...deltas.map(({ type }) => type),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  },
  expectEvent(body, { event }) {
    const type = event === 'upstream_stream_error' ? 'api_error' : 'invalid_request_error'
    const error = { type, details: { error_code: event } }
    expect(namedEvents(body).at(-1)).toMatchObject({ type: 'error', error })
    expect(String(body)).not.toContain('message_stop')
  },
}

const googleNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
const relayedGoogle = nativeCells('google', 'used')
const google: ClientApi = {
  native: 'google',
  plain: [...smoke.plain, ...relayedGoogle.plain],
  streamed: [...smoke.streamed, ...relayedGoogle.streamed],
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: () => ({
    contents: [{ parts: [{ text: 'Say hello.' }] }],
    generationConfig: { maxOutputTokens: 50 },
  }),
  expectError(body, { status, code }) {
    const error = { code: status, status: googleNames[status], message: expect.any(String) }
    expect(body).toMatchObject({ error })
    if (code) expect(body).toMatchObject({ error: { details: [{ reason: code }] } })
  },
  expectWhole: (body) =>
    expect(body).toMatchObject({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    }),
  expectStream(body, name) {
    const responses = dataOf(body)
    const parts = responses.flatMap(({ candidates }) =>
      Object(candidates)[0].content.parts.map((part: { text: string }) => part.text),
    )
    expect(parts.join('')).toBe(text)
    if (name === 'google-ok') expect(body).toBe(passedGoogleStream)
    if (name.startsWith('google')) return
    expect(responses.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { cost: expect.any(Number) },
    })
  },
  expectEvent(body, { event }, name) {
    const responses = dataOf(body)
    expect(responses.at(-1)).toMatchObject({ error: { code: 502, details: [{ reason: event }] } })
    // The end of an empty response is its first event.
    if (name !== 'google-empty') expect(JSON.stringify(responses)).not.toContain('finishReason')
  },
}

/** The stream of Google as its client gets it. */
const passedGoogleStream = nativeStreams.google
  .replaceAll('"modelVersion":"fake"', '"modelVersion":"fake/google-ok"')
  .replaceAll('\r\n', '\n')

const relayedCohere = nativeCells('cohere', 'uncached')
const cohere: ClientApi = {
  native: 'cohere',
  plain: [...smoke.plain, ...relayedCohere.plain],
  streamed: [...smoke.streamed, ...relayedCohere.streamed],
  path: '/v2/chat',
  body: chatBody,
  /** Cohere's errors have the reason at the top. No other envelope may be there. */
  expectError(body, { code }) {
    expect(body).toMatchObject({ id: expect.any(String), message: expect.any(String) })
    expect(body).not.toHaveProperty('error')
    if (code) expect(body).toMatchObject({ code })
  },
  expectWhole: (body) =>
    expect(body).toMatchObject({
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
    }),
  expectStream(body, name) {
    if (name === 'cohere-ok') expect(body).toBe(nativeStreams.cohere)
    const events = namedEvents(body)
    const deltas = events.filter(({ type }) => type === 'content-delta')
    const parts = deltas.map(({ delta }) => Object(delta).message.content.text)
    expect(parts.join('')).toBe(text)
    expect(events.map(({ type }) => type)).toEqual([
      'message-start',
      'content-start',
      ...deltas.map(({ type }) => type),
      'content-end',
      'message-end',
    ])
    if (name.startsWith('cohere')) return
    expect(events.at(-1)).toMatchObject({
      delta: { finish_reason: 'COMPLETE', usage: { cost: expect.any(Number) } },
    })
  },
  expectEvent(body, { event }) {
    const delta = { finish_reason: 'ERROR', code: event, error: expect.any(String) }
    expect(namedEvents(body).at(-1)).toMatchObject({ type: 'message-end', delta })
    expect(String(body)).not.toContain('[DONE]')
  },
}

/** Cells of chats alone: JSON instead of a stream, an early usage, and a deadline. */
const isOfResponses = ([name]: NamedCell): boolean => !/early|each|unstreamed|^hang/.test(name)
const framings =
  /^ok-(crlf|cr|comments|split-utf8|one-piece|done-twice)$|^(404|no-done|usage-text)$/
const relayedResponses: ClientApi = {
  native: 'responses',
  plain: [...smoke.plain, ...plain.filter(([name]) => framings.test(name))].filter(isOfResponses),
  streamed: [...smoke.streamed, ...streamed.filter(([name]) => framings.test(name))]
    .filter(isOfResponses)
    // Without content: known by the last event, before the client has received any.
    .map(([name, cell]) => [
      name,
      name === 'no-content' ? { status: 502, charge: 'nothing' } : cell,
    ]),
  path: '/v1/responses',
  body: (model, stream) => ({ model, input: 'Say hello.', stream, max_output_tokens: 50 }),
  expectError: (body, { code = null }) => expect(body).toMatchObject({ error: { code } }),
  expectWhole(body) {
    expect(body).toMatchObject({ object: 'response', output: [{ content: [{ text }] }] })
    expect(recordOf(body).usage).not.toHaveProperty('cost_details')
  },
  expectStream(body) {
    const events = namedEvents(body)
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    const last = events.at(-1)
    expect([deltas.map(({ delta }) => delta).join(''), last?.type]).toEqual([
      text,
      'response.completed',
    ])
    expect(recordOf(recordOf(last?.response).usage)).not.toHaveProperty('cost')
  },
  expectEvent(body, { event }) {
    const events = namedEvents(body)
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    expect(text).toStartWith(deltas.map(({ delta }) => delta).join(''))
    const [error, last] = events.slice(-2)
    expect(error).toMatchObject({ type: 'error', code: event })
    const failed = { status: 'failed', error: { code: event } }
    expect(last).toMatchObject({ type: 'response.failed', response: failed })
  },
  afterwards: [
    [
      'no upstream was called at another path',
      ({ fake }) => {
        const paths = fake.received.map(({ path, body }) => [path, body.model])
        const others = paths.filter(([path]) => path !== '/v1/responses')
        // A 404 is tried again as a chat.
        expect(new Set(others.map(([, model]) => model))).toEqual(new Set(['fake/404']))
      },
    ],
  ],
}

/** All cells of an API run in parallel. */
const waitMs = 60_000

/** Checks that the header and the body of a whole response name the same cost. */
function expectCost({ headers, body }: TestResponse): void {
  const { usage, usageMetadata } = recordOf(body)
  const cost = Number(recordOf(usage ?? usageMetadata).cost)
  expect(cost.toFixed(9).replace(/0+$/, '')).toBe(String(headers.get('x-service-cost')))
}

/**
 * The table "Charges by upstream behavior" (document 2, section 7). A charge does not depend on the
 * API of the client: all outcomes run in OpenAI's API, and those of each class in every other one.
 */
const apis: [name: string, api: ClientApi][] = [
  ["OpenAI's chat", chat],
  ["OpenAI's completions", completions],
  ['OpenRouter', openrouter],
  ['Anthropic', anthropic],
  ['Gemini', google],
  ['Cohere', cohere],
  ["OpenAI's Responses", relayedResponses],
]

describe.each(apis)('charges of %s', (_, api) => {
  let table: ChargeTable
  beforeAll(async () => {
    table = await ChargeTable.open(api.path, api.body, api.native)
  })
  afterAll(() => table.close())

  test.concurrent.each(api.plain)(
    'of a whole response: %s',
    async (name, cell) => {
      const response = await table.run(name, false, cell)
      if (cell.status !== 200) return api.expectError(response.body, cell)
      api.expectWhole(response.body, name)
      expectCost(response)
    },
    waitMs,
  )

  test.concurrent.each(api.streamed)(
    'of a stream: %s',
    async (name, cell) => {
      const { body } = await table.run(name, true, cell)
      if (cell.status !== 200) return api.expectError(body, cell)
      if (cell.event) return api.expectEvent(body, cell, name)
      api.expectStream(body, name)
    },
    waitMs,
  )

  for (const [title, check] of api.afterwards ?? []) test(title, () => check(table.patient))
})
