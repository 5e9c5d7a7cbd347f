import { afterAll, describe, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { askAs, depth, eventsOf, typesOf } from '../../testing/fixtures/responses.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const faked = await startFakeUpstreamServer()
const demo = await startTestServer({ DEMO_MODELS: 'on' })
const { ask, stream } = askAs(await createGatewayUser(demo, '1'))
afterAll(async () => {
  await faked.close()
  await demo.close()
})

const text: unknown = expect.any(String)

describe('a completion', () => {
  test('is a Response with the cost of the same chat', async () => {
    const ann = await faked.gus()
    const received = { model: 'fake/ok', max_output_tokens: 50 }
    const response = await ann.call('POST', '/v1/responses', { ...received, input: 'Say hello.' })
    const { use, total } = await faked.lastUse(ann)
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response',
      created_at: 1,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'fake/ok',
      completed_at: 1,
      frequency_penalty: null,
      presence_penalty: null,
      store: false,
      previous_response_id: null,
      max_output_tokens: 50,
      tools: [],
      output: [
        {
          type: 'message',
          id: text,
          status: 'completed',
          role: 'assistant',
          content: [
            { type: 'output_text', text: fakeText.join(''), annotations: [], logprobs: [] },
          ],
        },
      ],
      usage: {
        input_tokens: 11,
        output_tokens: 7,
        total_tokens: 18,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 2 },
        cost: Number(use?.charged) / 1e9,
      },
    })
    expect(response.headers.get('x-service-cost')).toBe(
      (Number(use?.charged) / 1e9).toFixed(9).replace(/0+$/, ''),
    )
    const messages = [{ role: 'user', content: 'Say hello.' }]
    const chat = { model: 'fake/ok', max_tokens: 50, messages }
    await ann.call('POST', '/v1/chat/completions', chat)
    const after = await faked.lastUse(ann)
    expect([total, after.total]).toEqual([1, 2])
    expect([after.use?.charged, after.use?.held]).toEqual([use?.charged, use?.held])
    expect(await faked.findProblems(ann)).toEqual([])
  })

  test('is incomplete at its token limit', async () => {
    const received = { input: 'one two three four', max_output_tokens: 2 }
    const cut = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    }
    expect((await ask(received)).body).toMatchObject(cut)
    expect((await stream(received)).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: cut,
    })
  })

  test('is replayed under its Idempotency-Key and charged once', async () => {
    for (const [at, isStream] of [true, false].entries()) {
      const ann = await faked.gus()
      const body = { model: 'fake/ok', input: 'Say hello.', stream: isStream }
      const again = () =>
        ann.call('POST', '/responses', body, { 'idempotency-key': `response-${at}` })
      const first = await again()
      expect(first.status).toBe(200)
      faked.clock.advance(5_000)
      expect((await again()).body).toEqual(first.body)
      expect((await faked.lastUse(ann)).total).toBe(1)
    }
  })
})

describe('a stream', () => {
  test('sends a message in deltas', async () => {
    const events = await stream({ input: 'one two three' })
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.map(({ delta }) => delta).join('')).toBe('one two three')
    const last = events.at(-1)
    const whole = await ask({ input: 'one two three' })
    const { usage, output } = Object(last?.response)
    expect(output).toMatchObject([{ content: [{ text: 'one two three' }] }])
    expect(usage).toEqual(Object(whole.body).usage)
    expect(usage.cost).toBeGreaterThan(0)
    expect(events[0]).toMatchObject({
      response: { status: 'in_progress', output: [], usage: null },
    })
  })

  test('sends reasoning and calls', async () => {
    const received = { input: 'call depth', tools: [depth], reasoning: { effort: 'high' } }
    const events = await stream(received)
    expect(typesOf(events).slice(2)).toEqual([
      'response.output_item.added',
      ...['added', 'done'].flatMap((end) => [
        ...(end === 'done' ? ['response.reasoning_summary_text.done'] : []),
        `response.reasoning_summary_part.${end}`,
        ...(end === 'added' ? ['response.reasoning_summary_text.delta'] : []),
      ]),
      'response.output_item.done',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
    const pieces = events.filter(({ type }) => type === 'response.function_call_arguments.delta')
    const done = events.find(({ type }) => type === 'response.function_call_arguments.done')
    expect(pieces.map(({ delta }) => delta).join('')).toBe(String(done?.arguments))
    expect(done).toMatchObject({ output_index: 1, name: 'depth' })
  })

  test('that breaks off ends with an error and is charged like the chat', async () => {
    for (const script of ['error-event', 'no-done']) {
      const ann = await faked.gus()
      const body = { model: `fake/${script}`, input: 'Say hello.', stream: true }
      const response = await ann.call('POST', '/v1/responses', body)
      expect(response.status).toBe(200)
      const [error, failed] = eventsOf(response.body).slice(-2)
      const failure = { code: 'upstream_stream_error', message: expect.stringContaining('charged') }
      expect(error).toMatchObject({ type: 'error', ...failure })
      expect(failed).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: failure },
      })
      const { use } = await faked.lastUse(ann)
      const messages = [{ role: 'user', content: 'Say hello.' }]
      const chat = { model: `fake/${script}`, messages, stream: true }
      await ann.call('POST', '/v1/chat/completions', chat)
      const after = await faked.lastUse(ann)
      expect(after.use?.charged).toBe(use?.charged)
      expect(use?.charged).toBeGreaterThan(0n)
      expect(await faked.findProblems(ann)).toEqual([])
    }
  })

  test('that fails before its first event is an error response', async () => {
    const ann = await faked.gus()
    const body = { model: 'fake/500', input: 'Say hello.', stream: true }
    const response = await ann.call('POST', '/v1/responses', body)
    expect([response.status, Object(response.body).error.type]).toEqual([502, 'api_error'])
    expect((await faked.lastUse(ann)).use).toMatchObject({ charged: 0n, status: 'failed' })
  })
})
