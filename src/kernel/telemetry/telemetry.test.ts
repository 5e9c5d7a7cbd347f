import { afterAll, beforeEach, expect, test } from 'bun:test'

import { fakeText } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { isRecord, itemsOf, type Json, recordOf } from '../schema.ts'

/** A collector that keeps what it receives. */
function startCollector() {
  const received: { path: string; authorization: string | null; body: unknown }[] = []
  const state = { status: 200 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const authorization = request.headers.get('authorization')
      received.push({ path, authorization, body: await request.json() })
      return Response.json({}, { status: state.status })
    },
  })
  return { received, state, url: server.url.origin, stop: () => server.stop(true) }
}

const collector = startCollector()

const start = (settings: Record<string, string> = {}) => {
  const model = fakeModel('500')
  const offers = ['500', 'ok'].map((upstream) => ({
    upstream,
    model: `fake/${upstream}`,
    price: model.price,
  }))
  const own = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-other=1',
    OTEL_SERVICE_NAME: 'harbor',
    ...settings,
  }
  return startFakeUpstreamServer(own, [{ ...model, id: 'fake/two', offers }], {}, 'google')
}

const faked = await start()
const gus = await faked.gus('50')
await faked.ctx.telemetry?.flush()
beforeEach(() => {
  collector.received.length = 0
  collector.state.status = 200
})
afterAll(async () => {
  await faked.close()
  await collector.stop()
})

/** Reads attributes of OTLP's JSON as an object. */
const attributesOf = (raw: unknown): Json =>
  Object.fromEntries(
    itemsOf(raw)
      .filter(isRecord)
      .map(({ key, value }) => {
        const { stringValue, intValue, doubleValue, boolValue } = recordOf(value)
        return [String(key), stringValue ?? doubleValue ?? boolValue ?? Number(intValue)]
      }),
  )

/** Returns the spans or metrics that the collector has received, with their attributes. */
const signals = (path: string, ...names: string[]) =>
  collector.received
    .filter((one) => one.path === path)
    .flatMap(({ body }) =>
      names.reduce<unknown[]>(
        (list, name) => list.flatMap((item) => itemsOf(recordOf(item)[name])),
        [body],
      ),
    )
    .filter(isRecord)
const spans = () =>
  signals('/v1/traces', 'resourceSpans', 'scopeSpans', 'spans').map((span) => {
    return { ...span, name: span.name, attributes: attributesOf(span.attributes) }
  })

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const chat = async (model: string, more: object = {}, flags = '01', server = faked, by = gus) => {
  const body = {
    model,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'What is secret?' }],
    ...more,
  }
  const headers = { traceparent: `00-${traceId}-${parentId}-${flags}` }
  const response = await by.call('POST', '/v1/chat/completions', body, headers)
  await server.ctx.telemetry?.flush()
  return response
}

test('a call is a span of the caller’s trace, with GenAI attributes and without contents', async () => {
  const response = await chat('fake/ok', { temperature: 0.5 })
  const [call, request] = spans()
  expect(collector.received[0]).toMatchObject({
    path: '/v1/traces',
    authorization: 'Basic abc',
    body: { resourceSpans: [{ resource: { attributes: expect.any(Array) } }] },
  })
  expect(request).toMatchObject({
    traceId,
    parentSpanId: parentId,
    kind: 2,
    name: 'POST /v1/chat/completions',
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'berth.request_id': response.headers.get('x-request-id'),
      'berth.key': gus.key.slice(0, 11),
    },
  })
  expect(call).toMatchObject({
    traceId,
    parentSpanId: Object(request).spanId,
    kind: 3,
    name: 'chat fake/ok',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'ok',
      'gen_ai.request.model': 'fake/ok',
      'gen_ai.request.max_tokens': 50,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cost': Number(response.headers.get('x-service-cost')),
    },
  })
  const { startTimeUnixNano, endTimeUnixNano } = Object(call)
  expect(String(startTimeUnixNano)).toMatch(/^\d{19}$/)
  expect(Number(endTimeUnixNano)).toBeGreaterThanOrEqual(Number(startTimeUnixNano))
  const text = JSON.stringify(collector.received)
  expect(text).not.toContain('secret')
  expect(text).toContain('{"key":"service.name","value":{"stringValue":"harbor"}}')
})

test('each attempt of a fallback is a span, and a stream too', async () => {
  await chat('fake/two', { stream: true })
  const calls = spans().filter(({ attributes }) => attributes['gen_ai.operation.name'])
  expect(calls.map(({ attributes }) => attributes['berth.upstream'])).toEqual(['500', 'ok'])
  expect(calls[0]).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'upstream_failed' },
  })
  expect(calls[1]?.attributes).toMatchObject({
    'gen_ai.request.stream': true,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
  })
})

test('metrics have durations and tokens by model and provider', async () => {
  await chat('fake/ok')
  const metrics = signals('/v1/metrics', 'resourceMetrics', 'scopeMetrics', 'metrics')
  const names = metrics.map(({ name }) => name)
  expect(names).toContain('gen_ai.client.operation.duration')
  expect(names).toContain('http.server.request.duration')
  const usage = metrics.find(({ name }) => name === 'gen_ai.client.token.usage')
  const points = itemsOf(recordOf(usage?.histogram).dataPoints).filter(isRecord)
  const input = points.find(({ attributes }) => {
    const labels = attributesOf(attributes)
    return labels['gen_ai.token.type'] === 'input' && labels['gen_ai.request.model'] === 'fake/ok'
  })
  const count = Number(input?.count)
  expect(count).toBeGreaterThanOrEqual(1)
  expect(input?.sum).toBe(11 * count)
  const { bucketCounts, explicitBounds } = Object(input)
  expect(bucketCounts.length).toBe(explicitBounds.length + 1)
  // 11 tokens are in the bucket up to 16.
  expect(bucketCounts[explicitBounds.indexOf(16)]).toBe(String(count))
})

test('a caller that does not sample its trace sends no spans, and a bad header starts a trace', async () => {
  await chat('fake/ok', {}, '00')
  expect(spans()).toEqual([])
  await gus.call('GET', '/v1/models', undefined, { traceparent: `00-${'0'.repeat(32)}-x-01` })
  await faked.ctx.telemetry?.flush()
  const [span] = spans()
  expect(span).toMatchObject({ name: 'GET /v1/models', kind: 2 })
  expect(span && 'parentSpanId' in span).toBe(false)
})

test('contents are in the spans only where the operator allows them', async () => {
  const open = await start({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'on' })
  const by = await open.gus('5')
  for (const stream of [false, true]) {
    collector.received.length = 0
    await chat('fake/ok', { stream }, '01', open, by)
    const call = spans().find(({ name }) => name === 'chat fake/ok')
    const { 'gen_ai.input.messages': input, 'gen_ai.output.messages': output } = Object(
      call?.attributes,
    )
    expect(JSON.parse(input)).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'What is secret?' }] },
    ])
    expect(JSON.parse(output)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'text', content: expect.stringMatching(/\w/) }] },
    ])
  }
  for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
    collector.received.length = 0
    const body = { contents: [{ parts: [{ text: 'What is secret?' }] }] }
    const headers = { traceparent: `00-${traceId}-${parentId}-01` }
    await by.call('POST', `/v1beta/models/fake/google-ok:${method}`, body, headers)
    await open.ctx.telemetry?.flush()
    const call = spans().find(({ name }) => name === 'chat fake/google-ok')
    expect(Object(call?.attributes)['gen_ai.output.messages']).toContain(fakeText.join(''))
  }
  await open.close()
})

test('a collector that is down costs calls nothing, and spans are dropped', async () => {
  collector.state.status = 503
  expect((await chat('fake/ok')).status).toBe(200)
  const tried = collector.received.length
  expect(tried).toBeGreaterThan(0)
  for (let calls = 0; calls < 5; calls += 1) expect((await chat('fake/ok')).status).toBe(200)
  expect(collector.received).toHaveLength(tried)
  const dead = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  const by = await dead.gus('5')
  expect((await chat('fake/ok', {}, '01', dead, by)).status).toBe(200)
  await dead.close()
})
