import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import OpenAI, { toFile } from 'openai'

import { day, hour, minute } from '../../core/time.ts'
import { setRestriction } from '../../keys/restrictions.ts'
import { unfundedFileBytesMax } from '../../limits.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import {
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { deleteOld } from './batches.ts'
import { unfundedReservedBytes } from './limits.ts'
import { storeResponse } from './results.ts'
import { runLine } from './run-line.ts'

let t: TestServer
let gus: GatewayUser
let client: OpenAI
beforeAll(async () => {
  t = await startTestServer({ DEMO_MODELS: 'on' })
  gus = await createGatewayUser(t, '1')
  client = openAiClient(t, gus)
})
afterAll(() => t.close())

const url = '/v1/chat/completions'
const say = (content: string, model = 'demo/chat') => ({
  model,
  messages: [{ role: 'user', content }],
})
const lineOf = (custom_id: string, body: object, more: object = {}) =>
  JSON.stringify({ custom_id, method: 'POST', url, body, ...more })

async function upload(openai: OpenAI, lines: string[]): Promise<string> {
  const file = await toFile(Buffer.from(lines.join('\n')), 'requests.jsonl')
  return (await openai.files.create({ file, purpose: 'batch' })).id
}

async function create(openai: OpenAI, lines: string[], endpoint: string = url) {
  const input_file_id = await upload(openai, lines)
  // Its types do not know all endpoints.
  const body = { input_file_id, endpoint, completion_window: '24h', metadata: { run: 'one' } }
  return openai.post<OpenAI.Batch>('/batches', { body })
}

/** Returns the lines of a result file by their custom_id. */
async function resultsOf(openai: OpenAI, file: string | null | undefined) {
  if (!file) return {}
  const text = await (await openai.files.content(file)).text()
  const rows = text
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row))
  return Object.fromEntries(rows.map((row) => [row.custom_id, row]))
}

test("OpenAI's client runs a batch, and its results are files", async () => {
  const made = await create(client, [
    lineOf('a', say('ahoy')),
    '',
    lineOf('b', say('there')),
    lineOf('c', say('x', 'no/such')),
  ])
  expect(made).toMatchObject({
    object: 'batch',
    status: 'validating',
    endpoint: url,
    metadata: { run: 'one' },
    expires_at: made.created_at + 86_400,
  })
  await t.ctx.jobs.runDue()
  const done = await client.batches.retrieve(made.id)
  expect(done).toMatchObject({
    status: 'completed',
    request_counts: { total: 3, completed: 2, failed: 1 },
    errors: null,
  })
  expect(await resultsOf(client, done.output_file_id)).toMatchObject({
    a: {
      id: expect.stringMatching(/^batch_req_/),
      error: null,
      response: { status_code: 200, body: { choices: [{ message: { content: 'ahoy' } }] } },
    },
    b: { response: { body: { choices: [{ message: { content: 'there' } }] } } },
  })
  expect(await resultsOf(client, done.error_file_id)).toMatchObject({
    c: { response: { status_code: 404, body: { error: { code: 'model_not_found' } } } },
  })
  const { body } = await gus.call('GET', '/queries/history')
  expect(body).toMatchObject({ total: 2, data: [{ model: 'demo/chat' }, {}] })
  const listed = await client.batches.list({ limit: 1 })
  expect(listed.data.map(({ id }) => id)).toEqual([made.id])
})

test.each([
  ['/v1/responses', { model: 'demo/chat', input: 'hi' }, { object: 'response' }],
  ['/v1/completions', { model: 'demo/chat', prompt: 'hi' }, { object: 'text_completion' }],
  ['/v1/embeddings', { model: 'demo/embedding', input: 'hi' }, { object: 'list' }],
  ['/v1/moderations', { input: 'hi' }, { model: 'demo/moderation' }],
  [
    '/v1/rerank',
    { model: 'demo/rerank', query: 'a', documents: ['a'] },
    { results: [{ index: 0 }] },
  ],
  ['/v1/images/generations', { model: 'demo/image', prompt: 'a' }, { data: [{}] }],
])('%s', async (endpoint, body, result) => {
  const made = await create(client, [lineOf('a', body, { url: endpoint })], endpoint)
  await t.ctx.jobs.runDue()
  const { output_file_id } = await client.batches.retrieve(made.id)
  expect(await resultsOf(client, output_file_id)).toMatchObject({
    a: { response: { status_code: 200, body: result } },
  })
})

test('an invalid file fails the batch with its lines, and costs nothing', async () => {
  const before = (await gus.call('POST', '/credits/balance')).body
  const made = await create(client, [
    lineOf('a', say('x')),
    'no json',
    lineOf('a', say('x')),
    lineOf('', say('x')),
    lineOf('d', say('x'), { method: 'GET' }),
    lineOf('e', say('x'), { url: '/v1/embeddings' }),
    lineOf('f', say('x'), { body: 7 }),
    lineOf('g', { ...say('x'), stream: true }),
  ])
  await t.ctx.jobs.runDue()
  const { status, errors, output_file_id } = await client.batches.retrieve(made.id)
  expect({ status, output_file_id }).toMatchObject({ status: 'failed', output_file_id: null })
  expect(errors?.data?.map(({ code, line }) => [code, line])).toEqual([
    ['invalid_json_line', 2],
    ['duplicate_custom_id', 3],
    ['invalid_custom_id', 4],
    ['invalid_method', 5],
    ['invalid_url', 6],
    ['invalid_body', 7],
    ['stream_unsupported', 8],
  ])
  expect((await gus.call('POST', '/credits/balance')).body).toEqual(before)
})

test('an invalid request is a 400 that names the field, and stores nothing', async () => {
  const input_file_id = await upload(client, [lineOf('a', say('x'))])
  const body = { input_file_id, endpoint: url, completion_window: '24h' }
  const before = await t.snapshot()
  const sent: [more: object, status: number, param: string][] = [
    [{ endpoint: '/v1/videos' }, 400, 'endpoint'],
    [{ endpoint: '__proto__' }, 400, 'endpoint'],
    [{ completion_window: '1h' }, 400, 'completion_window'],
    [{ metadata: { a: 7 } }, 400, 'metadata'],
    [{ input_file_id: 'file_AAAAAAAAAAAA' }, 404, 'file_id'],
    [{ input_file_id: 7 }, 400, 'input_file_id'],
  ]
  for (const [more, status, param] of sent) {
    const answer = await gus.call('POST', '/v1/batches', { ...body, ...more })
    expect([answer.status, answer.body]).toMatchObject([status, { error: { param } }])
  }
  expect((await gus.call('GET', '/v1/batches/batch_AAAAAAAAAAAA')).status).toBe(404)
  expect((await gus.call('GET', '/v1/batches?after=batch_AAAAAAAAAAAA')).status).toBe(400)
  expect(await t.snapshot()).toEqual(before)
})

test('the same Idempotency-Key creates one batch, and open batches are limited', async () => {
  const ann = await createGatewayUser(t, '1', '198.51.100.9')
  const openai = openAiClient(t, ann)
  const input_file_id = await upload(openai, [lineOf('a', say('x'))])
  const body = { input_file_id, endpoint: url, completion_window: '24h' }
  const headers = { 'idempotency-key': 'once' }
  const first = await ann.call('POST', '/v1/batches', body, headers)
  const again = await ann.call('POST', '/v1/batches', body, headers)
  expect(again.text('id')).toBe(first.text('id'))
  for (let at = 1; at < 8; at += 1) await ann.call('POST', '/v1/batches', body)
  const beyond = await ann.call('POST', '/v1/batches', body)
  expect(beyond.status).toBe(429)
  await t.ctx.jobs.runDue()
  expect((await ann.call('POST', '/v1/batches', body)).status).toBe(200)
  await t.ctx.jobs.runDue()
})

test('results count as uploads of an account that was never funded', async () => {
  const poor = await createGatewayUser(t, '0', '198.51.100.31')
  const openai = openAiClient(t, poor)
  const input_file_id = await upload(openai, [lineOf('a', say('x'))])
  const body = { input_file_id, endpoint: url, completion_window: '24h' }
  const left = () => t.ctx.state.limits.unfundedUploads.left('198.51.100.0/24')
  const { calls } = await left()
  expect((await poor.call('POST', '/v1/batches', body)).status).toBe(200)
  const [file] = (await openai.files.list()).data
  expect((await left()).calls).toBe(calls - unfundedReservedBytes - (file?.bytes ?? 0))
  await t.ctx.jobs.runDue()
  // Files and reserved bytes together are beyond the 32 MB of such an account.
  const large = Buffer.from('x'.repeat(unfundedFileBytesMax - unfundedReservedBytes))
  await openai.files.create({ file: await toFile(large, 'a.txt'), purpose: 'user_data' })
  const before = [await t.snapshot(), await left()]
  const full = await poor.call('POST', '/v1/batches', body)
  expect([full.status, full.body]).toMatchObject([409, { error: { param: 'file' } }])
  expect([await t.snapshot(), await left()]).toEqual(before)
})

test('a blocked client pays no line until the operator allows it, and lines are its costs', async () => {
  const mal = await createGatewayUser(t, '1', '198.51.100.32')
  const openai = openAiClient(t, mal)
  const made = await create(openai, [lineOf('a', say('x')), lineOf('b', say('y'))])
  const account = `gateway:${mal.creditId}`
  const restrict = async (kind: 'block' | null) => {
    await t.ctx.db.tx((db) => setRestriction(t.ctx, db, `account:${account}`, kind))
    await t.ctx.restrictions.reload()
  }
  const { requests } = t.ctx.state.costs.spendingOf('account', account)
  await restrict('block')
  await t.ctx.jobs.runDue()
  expect(t.ctx.state.costs.spendingOf('account', account).requests).toBe(requests)
  await restrict(null)
  expect((await openai.batches.retrieve(made.id)).request_counts?.completed).toBe(0)
  const { requests: before } = t.ctx.state.costs.spendingOf('key', mal.key.slice(0, 11))
  t.clock.advance(minute)
  await t.ctx.jobs.runDue()
  expect(t.ctx.state.costs.spendingOf('key', mal.key.slice(0, 11)).requests).toBe(before + 2)
  expect((await openai.batches.retrieve(made.id)).request_counts?.completed).toBe(2)
})

describe('the end of a batch', () => {
  test('cancelled: lines that did not run are errors', async () => {
    const made = await create(client, [lineOf('a', say('x')), lineOf('b', say('y'))])
    expect(await client.batches.cancel(made.id)).toMatchObject({ status: 'cancelling' })
    await t.ctx.jobs.runDue()
    const done = await client.batches.retrieve(made.id)
    expect(done).toMatchObject({ status: 'cancelled', request_counts: { total: 2, failed: 2 } })
    expect(await resultsOf(client, done.error_file_id)).toMatchObject({
      a: { response: null, error: { code: 'batch_cancelled' } },
    })
    expect(await client.batches.cancel(made.id)).toMatchObject({ status: 'cancelled' })
  })

  test('expired after 24 hours', async () => {
    const made = await create(client, [lineOf('a', say('x'))])
    t.clock.advance(25 * hour)
    await t.ctx.jobs.runDue()
    const done = await client.batches.retrieve(made.id)
    expect(done.status).toBe('expired')
    expect(await resultsOf(client, done.error_file_id)).toMatchObject({
      a: { error: { code: 'batch_expired' } },
    })
  })

  test('expired after a week without a server: paid lines keep their results', async () => {
    const made = await create(client, [lineOf('a', say('x')), lineOf('b', say('y'))])
    const paid = { status_code: 200, request_id: 'r', body: { paid: true } }
    await storeResponse(t.ctx, made.id, { line: 1, customId: 'a', body: {} }, paid)
    t.clock.advance(9 * day)
    await t.ctx.jobs.runDue()
    const done = await client.batches.retrieve(made.id)
    expect(done).toMatchObject({
      status: 'expired',
      request_counts: { total: 2, completed: 1, failed: 1 },
    })
    expect(await resultsOf(client, done.output_file_id)).toMatchObject({ a: { response: paid } })
    expect(await resultsOf(client, done.error_file_id)).toMatchObject({
      b: { error: { code: 'batch_expired' } },
    })
  })

  test('failed: its input file was deleted', async () => {
    const made = await create(client, [lineOf('a', say('x'))])
    await client.files.delete(made.input_file_id)
    await t.ctx.jobs.runDue()
    const done = await client.batches.retrieve(made.id)
    expect([done.status, done.errors?.data?.[0]?.code]).toEqual(['failed', 'input_file_deleted'])
  })

  test('a revoked key pays no further line', async () => {
    const key = (await gus.call('POST', '/accounts/keys', { name: 'two' })).text('api_key')
    const own = openAiClient(t, { ...gus, key })
    const made = await create(own, [lineOf('a', say('x'))])
    await gus.call('DELETE', `/accounts/keys/${key.slice(0, 11)}`)
    await t.ctx.jobs.runDue()
    const { error_file_id } = await client.batches.retrieve(made.id)
    expect(await resultsOf(client, error_file_id)).toMatchObject({
      a: { response: { status_code: 401 } },
    })
  })

  test('maintenance deletes it after 30 days', async () => {
    t.clock.advance(31 * day)
    await deleteOld(t.ctx)
    expect((await client.batches.list()).data).toEqual([])
  })
})

describe('charges', () => {
  let faked: FakeUpstreamServer
  let ned: GatewayUser
  let openai: OpenAI
  beforeAll(async () => {
    faked = await startFakeUpstreamServer()
    ned = await faked.gus()
    openai = openAiClient(faked, ned)
  })
  afterAll(() => faked.close())

  test('every line is charged like the same call, and once when it runs again', async () => {
    const names = ['ok', '500', 'html', 'usage-missing', 'content-filter', '402']
    const live = await faked.gus()
    for (const name of names) {
      await live.call('POST', url, { ...say('Say hello.', `fake/${name}`), max_tokens: 50 })
    }
    const made = await create(
      openai,
      names.map((name) => lineOf(name, { ...say('Say hello.', `fake/${name}`), max_tokens: 50 })),
    )
    await faked.ctx.jobs.runDue()
    const balanceOf = async (user: GatewayUser) =>
      Reflect.get(Object((await user.call('POST', '/credits/balance')).body), 'balance')
    expect(await balanceOf(ned)).toBe(await balanceOf(live))
    const { output_file_id, error_file_id } = await openai.batches.retrieve(made.id)
    expect(Object.keys(await resultsOf(openai, output_file_id))).toEqual(['ok', 'usage-missing'])
    const errors = await resultsOf(openai, error_file_id)
    const statuses = Object.entries(errors).map(([name, result]) => [
      name,
      Object(result).response.status_code,
    ])
    expect(Object.fromEntries(statuses)).toEqual({
      '500': 502,
      html: 502,
      'content-filter': 400,
      '402': 503,
    })
    expect(await faked.findProblems(ned)).toEqual([])
  })

  test('a line that was settled before a crash returns its response and is charged once', async () => {
    const batch = { id: 'batch_AAAAAAAAAAAA', owner: ned.creditId, key: ned.key.slice(0, 11) }
    const line = { line: 1, customId: 'a', body: say('Say hello.', 'fake/ok') }
    const run = () => runLine(faked.ctx, { ...batch, endpoint: url }, line, () => undefined)
    const first = await run()
    const { total } = await faked.lastUse(ned)
    const second = await run()
    expect(second).toMatchObject({ status_code: 200, body: Reflect.get(first, 'body') })
    expect((await faked.lastUse(ned)).total).toBe(total)
  })

  test('a busy upstream and a key at its rate pause the batch', async () => {
    const key = await ned.call('POST', '/accounts/keys', { requests_per_minute: 1 })
    const batch = { id: 'batch_BBBBBBBBBBBB', owner: ned.creditId, endpoint: url }
    const run = (prefix: string, model: string, line = 1) =>
      runLine(
        faked.ctx,
        { ...batch, key: prefix },
        { line, customId: 'a', body: say('Say hello.', model) },
        () => undefined,
      )
    expect(await run(key.text('prefix'), 'fake/ok')).toMatchObject({ status_code: 200 })
    expect(await run(key.text('prefix'), 'fake/ok')).toEqual({ pausedMs: expect.any(Number) })
    const busy = await run(ned.key.slice(0, 11), 'fake/429', 2)
    expect(busy).toEqual({ pausedMs: expect.any(Number) })
    expect(await faked.findProblems(ned)).toEqual([])
  })
})
