/** One file, because every operation that can lack credits is paid in the same ways. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import type { SocketHandler } from '../../kernel/http/web-socket.ts'
import { fromCredits } from '../../kernel/money.ts'
import { recordOf } from '../../kernel/schema.ts'
import { agentAccount, serviceAccounts } from '../../money/ledger/accounts.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { balanceOf, openOwnerAccount, transfer } from '../../money/ledger/ledger.ts'
import { fakeImage } from '../../testing/fakes/media-scripts.ts'
import { startChain } from '../../testing/fixtures/chain.ts'
import { signPayment, startPaidServer } from '../../testing/fixtures/payments.ts'
import type { TestAgent, TestResponse } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'
import { getDocument, getGatewayDocument, listOperations } from '../../testing/openapi/document.ts'
import { ResponseChecker } from '../../testing/openapi/response-checker.ts'
import { until } from '../../testing/until.ts'

setDefaultTimeout(60_000)
let agents = 0

const chain = await startChain()
const t = await startPaidServer(chain, {
  EMBEDDED_ASSET_CREDITS: '5',
  START_CREDITS_ON_GATEWAY: 'off',
})
await t.ctx.jobs.start()
const maker = await t.agent('maker')
const app = await maker.publish({ store: true, remix: 'price', priceRemix: 50 })
const wallet = await chain.createWallet()
afterAll(async () => {
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
  await chain.stop()
})

/** Creates an agent that has only a few credits left, which it bought. */
async function poorAgent(credits: number): Promise<TestAgent> {
  const agent = await t.agent(`buyer-${(agents += 1)}`)
  const owner = (await t.ctx.keys.find(agent.key))?.owner ?? ''
  const { income } = serviceAccounts
  const amount = fromCredits(400 - credits)
  await t.ctx.db.tx(async (db) => {
    await openOwnerAccount(t.ctx, db, { kind: 'house', owner: 'income' })
    const to = [{ account: income, amount }]
    await transfer(t.ctx, db, {
      from: agentAccount(owner),
      to,
      ref: `spent:${owner}`,
      kind: 'test',
    })
  })
  return agent
}

const creditsOf = async (agent: TestAgent) =>
  Number(recordOf((await agent.call('GET', '/me')).body)['credits'])

const offersIn = ({ body, headers }: TestResponse) => {
  const header = headers.get('payment-required')
  const [first] = Object(body).accepts ?? []
  const [second] = header === null ? [] : JSON.parse(atob(header)).accepts
  return [first?.maxAmountRequired, second?.amount]
}

interface PaidCall {
  method: string
  path(own: string): string
  body: unknown
  /** Units that an agent with two credits is short of; undefined where a model sets the price. */
  units?: string
}

/** Every kind of paid operation of the Agent API. */
const paidCalls: Record<string, PaidCall> = {
  remix: { method: 'POST', path: () => `/apps/${app}/remix`, body: {}, units: '48000' },
  icon: { method: 'PUT', path: (id) => `/apps/${id}/icon`, body: { make: true }, units: '3000' },
  assets: {
    method: 'POST',
    path: (id) => `/apps/${id}/assets`,
    body: {
      assets: [
        { name: 'coin.png', kind: 'sprite', what: 'a gold coin' },
        { name: 'ding', kind: 'sound', what: 'a coin is collected' },
      ],
    },
    units: '8000',
  },
  build: { method: 'POST', path: () => '/apps', body: { prompt: 'a clock', kind: 'game' } },
  change: { method: 'POST', path: (id) => `/apps/${id}/versions`, body: { prompt: 'add a clock' } },
}

test.each(Object.entries(paidCalls))('%s: the 402 has the offer', async (_, call) => {
  const ann = await poorAgent(2)
  const id = await ann.publish()
  const short = await ann.call(call.method, call.path(id), call.body)
  expect([short.status, short.code]).toEqual([402, 'not_enough_credits'])
  const [first, second] = offersIn(short)
  expect(first).toBe(second)
  if (call.units !== undefined) expect(first).toBe(call.units)
  expect(Object(short.body).accepts[0].resource).toBe(`http://localhost:3000/api${call.path(id)}`)
  expect(short.headers.get('cache-control')).toBe('no-store, private')
  expect(await creditsOf(ann)).toBe(2)
})

test('the tests above call each paid operation of the Agent API', async () => {
  const offering = listOperations(await getDocument(t))
    .filter(({ responses }) => JSON.stringify(responses['402'] ?? '').includes('accepts'))
    .map(({ operationId }) => operationId)
  const tried = ['remix_app', 'put_icon', 'make_assets', 'publish_app', 'publish_version']
  // Their own tests pay these two. A person who keeps a remix gets no offer.
  const others = ['pay_share', 'top_up', 'keep_remix']
  expect(offering.toSorted()).toEqual([...tried, ...others].toSorted())
})

for (const version of [1, 2] as const) {
  test.each(Object.entries(paidCalls))(
    `%s: the official client of version ${version} buys it`,
    async (_, { method, path, body }) => {
      const ann = await poorAgent(2)
      const id = await ann.publish()
      const before = await chain.balanceOf(t.payee.address)
      const pay = await t.payingFetch(wallet, version)
      const response = await pay(`/api${path(id)}`, {
        method,
        headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect([200, 201, 202]).toContain(response.status)
      const { code, job, price } = recordOf(await response.json())
      expect(code).toBeUndefined()
      const name = version === 1 ? 'x-payment-response' : 'payment-response'
      expect(JSON.parse(atob(response.headers.get(name) ?? ''))).toMatchObject({ success: true })
      const paid = Number((await chain.balanceOf(t.payee.address)) - before) / 1_000
      // The stream of events ends with the job.
      if (job) await ann.call('GET', `/jobs/${recordOf(job)['id']}/events`)
      const { credits, held, spend } = recordOf((await ann.call('GET', '/me')).body)
      expect(held).toBe(0)
      const spent = Number(recordOf(spend)['total'])
      // A build costs less than its price, or nothing where it fails: the credits have the rest.
      expect(2 + paid - spent).toBeCloseTo(Number(credits), 4)
      // The smallest payment leaves nothing but a fraction of a unit of USDC.
      const left = 2 + paid - Number(price ?? spent)
      expect([left, left >= 0 && left < 0.001]).toEqual([left, true])
    },
  )
}

const payHeaders = async (units: bigint) => signPayment(wallet, { payTo: t.payee.address, units })

test('the same payment again returns the same response, and buys once', async () => {
  const ann = await poorAgent(2)
  const payment = await payHeaders(48_000n)
  const first = await ann.call('POST', `/apps/${app}/remix`, {}, payment)
  expect([first.status, await creditsOf(ann)]).toEqual([201, 0])
  const again = await ann.call('POST', `/apps/${app}/remix`, {}, payment)
  expect([again.status, again.body]).toEqual([201, first.body])
  expect(again.headers.get('x-payment-response')).toBe(first.headers.get('x-payment-response'))
  expect(await creditsOf(ann)).toBe(0)
})

test('a call that credits can pay settles no payment', async () => {
  const ann = await t.agent('rich')
  const before = await chain.balanceOf(t.payee.address)
  const response = await ann.call('POST', `/apps/${app}/remix`, {}, await payHeaders(48_000n))
  expect([response.status, response.headers.has('x-payment-response')]).toEqual([201, false])
  expect((await chain.balanceOf(t.payee.address)) - before).toBe(0n)
})

test('a price that rose after the offer: what was paid is credited, and the rest offered', async () => {
  const ann = await poorAgent(2)
  const id = await maker.publish({ store: true, remix: 'price', priceRemix: 20 })
  const [offered] = offersIn(await ann.call('POST', `/apps/${id}/remix`, {}))
  await maker.call('PATCH', `/apps/${id}`, { priceRemix: 30 })
  const payment = await payHeaders(BigInt(offered))
  const short = await ann.call('POST', `/apps/${id}/remix`, {}, payment)
  expect([short.status, offersIn(short), await creditsOf(ann)]).toEqual([
    402,
    ['10000', '10000'],
    20,
  ])
  expect(short.headers.has('x-payment-response')).toBe(true)
  const bought = await ann.call('POST', `/apps/${id}/remix`, {}, await payHeaders(10_000n))
  expect([bought.status, await creditsOf(ann)]).toEqual([201, 0])
})

test('a 402 that money cannot solve has no offer, and settles nothing', async () => {
  const ann = await poorAgent(2)
  const above = await ann.call(
    'POST',
    `/apps/${app}/remix`,
    { maxCredits: 1 },
    await payHeaders(48_000n),
  )
  expect([above.code, 'accepts' in Object(above.body)]).toEqual(['price_above_max', false])
  // The cap bounds what the key spends, whoever paid.
  const owner = (await t.ctx.keys.find(ann.key))?.owner ?? ''
  const { updateLimits } = await import('../../people/agents/spending.ts')
  await t.ctx.db.tx((db) => updateLimits(db, owner, { dailyCap: fromCredits(49) }))
  t.ctx.keys.forget()
  const before = await chain.balanceOf(t.payee.address)
  for (const headers of [{}, await payHeaders(48_000n)]) {
    const capped = await ann.call('POST', `/apps/${app}/remix`, {}, headers)
    expect([capped.status, capped.code, 'accepts' in Object(capped.body)]).toEqual([
      402,
      'daily_cap',
      false,
    ])
    expect(capped.headers.has('payment-required')).toBe(false)
  }
  expect((await chain.balanceOf(t.payee.address)) - before).toBe(0n)
  expect(await creditsOf(ann)).toBe(2)
})

test('the key is checked before the payment', async () => {
  const before = await chain.balanceOf(t.payee.address)
  const headers = await payHeaders(48_000n)
  const response = await t.call('POST', `/apps/${app}/remix`, { body: {}, headers })
  expect([response.status, response.code]).toEqual([401, 'no_key'])
  expect((await chain.balanceOf(t.payee.address)) - before).toBe(0n)
})

const chat = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 200 }
const prompt = { prompt: 'A red boat' }

/** Every paid operation of the gateway that takes JSON: its kind of model and its fields. */
const gatewayCalls: Record<string, [model: string, body: object]> = {
  '/v1/chat/completions': ['chat', chat],
  '/v1/messages': ['chat', chat],
  '/api/v1/chat/completions': ['chat', chat],
  '/v1beta/models/demo/chat:generateContent': ['', { contents: [{ parts: [{ text: 'Hello' }] }] }],
  '/v2/chat': ['chat', chat],
  '/v1/responses': ['chat', { input: 'Hello' }],
  '/v1/completions': ['chat', prompt],
  '/v1/fim/completions': ['chat', prompt],
  '/v1/embeddings': ['embedding', { input: 'Hello' }],
  '/v1/moderations': ['moderation', { input: 'Hello' }],
  '/v1/rerank': ['rerank', { query: 'boat', documents: ['A boat', 'A car'] }],
  '/v2/rerank': ['rerank', { query: 'boat', documents: ['A boat', 'A car'] }],
  '/v1/images/generations': ['image', prompt],
  '/v1/audio/speech': ['speech', { input: 'Hello', voice: 'alloy' }],
  '/v1/videos': ['video', prompt],
}

const image = new File([Buffer.from(fakeImage, 'base64')], 'a.png', { type: 'image/png' })
const sound = new File([makeWav()], 'a.wav', { type: 'audio/wav' })
/** Calls of the gateway with a file. */
const formCalls: Record<string, Record<string, string | File>> = {
  '/v1/images/edits': { model: 'demo/image', ...prompt, image: image },
  '/v1/images/variations': { model: 'demo/image', image: image },
  '/v1/audio/transcriptions': { model: 'demo/transcription', file: sound },
  '/v1/audio/translations': { model: 'demo/transcription', file: sound },
}

async function bodyOf(path: string): Promise<{ body: unknown; headers: Record<string, string> }> {
  const [kind = '', fields] = gatewayCalls[path] ?? []
  if (fields) return { body: { ...fields, ...(kind && { model: `demo/${kind}` }) }, headers: {} }
  const form = new FormData()
  for (const [name, value] of Object.entries(formCalls[path] ?? {})) form.append(name, value)
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return { body: await sent.bytes(), headers }
}

test.each([...Object.keys(gatewayCalls), ...Object.keys(formCalls)])(
  'the gateway offers to agents in the envelope of %s',
  async (path) => {
    const { key } = await poorAgent(0)
    const { body, headers: type } = await bodyOf(path)
    const send = (headers = {}) =>
      t.request('POST', path, { key, body, headers: { ...type, ...headers }, from: '192.0.2.200' })
    const short = await send()
    const [first, second] = offersIn(short)
    expect([short.status, Number(first) > 0, second]).toEqual([402, true, first])
    expect(Object(short.body).accepts[0].resource).toBe(`http://localhost:3000${path}`)
    const paid = await send(await payHeaders(BigInt(first)))
    expect([paid.status, paid.headers.has('x-payment-response')]).toEqual([200, true])
  },
)

test('the tests above call each operation of the gateway that can lack credits', async () => {
  const { paths } = await getGatewayDocument(t)
  const paid = Object.entries(paths).flatMap(([path, item]) =>
    JSON.stringify(item).includes('accepts') ? path : [],
  )
  const tried = [...Object.keys(gatewayCalls), ...Object.keys(formCalls), '/v1/realtime']
  const isTried = (path: string) => tried.some((one) => one.endsWith(path))
  expect(paid.filter((path) => !isTried(path))).toEqual([])
})

test('a realtime session is paid before its handshake', async () => {
  const { key } = await poorAgent(0)
  const sessions: SocketHandler[] = []
  const open = (more = {}) => {
    const headers = { upgrade: 'websocket', authorization: `Bearer ${key}`, ...more }
    const url = 'http://localhost:3000/v1/realtime?model=demo/realtime'
    return t.handle(new Request(url, { headers }), '192.0.2.200', {
      pauseIdleTimeout: () => {},
      upgrade: (session) => sessions.push(session) > 0,
    })
  }
  const { status, headers } = await open()
  const { accepts } = JSON.parse(atob(headers.get('payment-required') ?? ''))
  expect([status, sessions]).toEqual([402, []])
  expect((await open(await payHeaders(BigInt(accepts[0].amount)))).status).toBe(101)
  sessions[0]?.close()
  const owner = (await t.ctx.keys.find(key))?.owner ?? ''
  await until(async () => (await balanceOf(t.ctx, { kind: 'agent', owner })).held === 0n)
})

test('a stream is paid before it begins', async () => {
  const { key } = await poorAgent(0)
  const body = { ...chat, model: await chatModel(), stream: true }
  const send = (headers = {}) =>
    t.request('POST', '/v1/chat/completions', { key, body, headers, from: '192.0.2.200' })
  const [units] = offersIn(await send())
  const paid = await send(await payHeaders(BigInt(units)))
  expect([paid.status, paid.headers.has('x-payment-response')]).toEqual([200, true])
  expect(String(paid.body)).toEndWith('data: [DONE]\n\n')
})

async function chatModel(): Promise<string> {
  const { body } = await t.request('GET', '/v1/models')
  return Object(body).data.find(({ id }: { id: string }) => id.startsWith('demo/ch'))?.id
}

test('the 402 of a line of a batch has the offer, which POST /topup takes', async () => {
  const { key } = await poorAgent(0)
  const body = { ...chat, model: await chatModel() }
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
  const send = (method: string, path: string, sent?: unknown, headers = {}) =>
    t.request(method, path, { key, body: sent, headers })
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', new File([JSON.stringify(line)], 'a.jsonl'))
  const file = new Response(form)
  const type = { 'content-type': file.headers.get('content-type') ?? '' }
  const input_file_id = (await send('POST', '/v1/files', await file.bytes(), type)).text('id')
  const batch = { input_file_id, endpoint: line.url, completion_window: '24h' }
  const run = async (result: 'error_file_id' | 'output_file_id') => {
    const id = (await send('POST', '/v1/batches', batch)).text('id')
    const found = await until(async () => {
      const { body: state } = await send('GET', `/v1/batches/${id}`)
      return recordOf(state)['status'] === 'completed' && recordOf(state)[result]
    })
    const { bytes } = await send('GET', `/v1/files/${found}/content`)
    return JSON.parse(new TextDecoder().decode(bytes)).response
  }
  const short = await run('error_file_id')
  const [offer] = short.body.accepts
  expect([short.status_code, short.body.error.code]).toEqual([402, 'insufficient_quota'])
  expect(offer.resource).toBe('http://localhost:3000/api/topup')
  const payment = await payHeaders(BigInt(offer.maxAmountRequired))
  expect((await send('POST', '/api/topup', { credits: 1 }, payment)).status).toBe(200)
  expect((await run('output_file_id')).status_code).toBe(200)
})

test('the gateway offers nothing to its own accounts', async () => {
  const user = await t.request('POST', '/accounts/create')
  const own = await t.request('POST', '/v1/chat/completions', {
    key: user.text('api_key'),
    body: { ...chat, model: await chatModel() },
  })
  expect([own.status, offersIn(own)]).toEqual([402, [undefined, undefined]])
})

test('offers, receipts and errors of payments are those of the documents', async () => {
  const document = await getDocument(t)
  const operations = listOperations(document)
  const checker = new ResponseChecker(document)
  const ann = await poorAgent(2)
  const operationOf = (id: string) => {
    const found = operations.find(({ operationId }) => operationId === id)
    if (!found) throw new Error(`no operation ${id}`)
    return found
  }
  const topUp = (headers = {}) => ann.call('POST', '/topup', { credits: 5 }, headers)
  const cases: [string, TestResponse][] = [
    ['remix_app', await ann.call('POST', `/apps/${app}/remix`, {})],
    ['remix_app', await ann.call('POST', `/apps/${app}/remix`, {}, { 'x-payment': 'garbage' })],
    ['top_up', await topUp()],
    ['top_up', await topUp(await payHeaders(1n))],
    ['top_up', await topUp(await payHeaders(5_000n))],
  ]
  const problems = cases.map(([id, response]) => checker.findError(operationOf(id), response))
  expect(problems.filter(Boolean)).toEqual([])
  expect(cases.map(([, { status }]) => status)).toEqual([402, 400, 402, 402, 200])
  const paid = operations
    .filter(({ responses }) => '402' in responses)
    .map(({ operationId }) => operationId)
  expect(paid).toContain('remix_app')
  for (const id of paid) {
    if (id === 'send_credits' || id === 'get_source') continue
    const { parameters = [], responses } = operationOf(id)
    expect([id, parameters.map(({ name }) => name)]).toEqual([
      id,
      expect.arrayContaining(['PAYMENT-SIGNATURE', 'X-PAYMENT']),
    ])
    expect(JSON.stringify(responses['402'])).toContain('accepts')
  }
  const gateway = await getGatewayDocument(t)
  expect(JSON.stringify(gateway.paths['/chat/completions'])).toContain('accepts')
})
