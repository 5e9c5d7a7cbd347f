import { afterAll, expect, test } from 'bun:test'

import { toFile } from 'openai'

import { unfundedFileBytesMax } from '../../kernel/limits.ts'
import { minute } from '../../kernel/time.ts'
import { setRestriction } from '../../money/keys/restrictions.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import {
  chatOf,
  chatUrl,
  createBatch,
  lineOf,
  resultsOf,
  uploadLines,
} from '../../testing/fixtures/batches.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { unfundedReservedBytes } from '../limits.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const client = openAiClient(t, gus)
afterAll(() => t.close())

test("OpenAI's client runs a batch, and its results are files", async () => {
  const made = await createBatch(client, [
    lineOf('a', chatOf('ahoy')),
    '',
    lineOf('b', chatOf('there')),
    lineOf('c', chatOf('x', 'no/such')),
  ])
  expect(made).toMatchObject({
    object: 'batch',
    status: 'validating',
    endpoint: chatUrl,
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
  const made = await createBatch(client, [lineOf('a', body, { url: endpoint })], endpoint)
  await t.ctx.jobs.runDue()
  const { output_file_id } = await client.batches.retrieve(made.id)
  expect(await resultsOf(client, output_file_id)).toMatchObject({
    a: { response: { status_code: 200, body: result } },
  })
})

test('an invalid file fails the batch with its lines, and costs nothing', async () => {
  const before = (await gus.call('POST', '/credits/balance')).body
  const made = await createBatch(client, [
    lineOf('a', chatOf('x')),
    'no json',
    lineOf('a', chatOf('x')),
    lineOf('', chatOf('x')),
    lineOf('d', chatOf('x'), { method: 'GET' }),
    lineOf('e', chatOf('x'), { url: '/v1/embeddings' }),
    lineOf('f', chatOf('x'), { body: 7 }),
    lineOf('g', { ...chatOf('x'), stream: true }),
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
  const input_file_id = await uploadLines(client, [lineOf('a', chatOf('x'))])
  const body = { input_file_id, endpoint: chatUrl, completion_window: '24h' }
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
    const response = await gus.call('POST', '/v1/batches', { ...body, ...more })
    expect([response.status, response.body]).toMatchObject([status, { error: { param } }])
  }
  expect((await gus.call('GET', '/v1/batches/batch_AAAAAAAAAAAA')).status).toBe(404)
  expect((await gus.call('GET', '/v1/batches?after=batch_AAAAAAAAAAAA')).status).toBe(400)
  expect(await t.snapshot()).toEqual(before)
})

test('the same Idempotency-Key creates one batch, and open batches are limited', async () => {
  const ann = await createGatewayUser(t, '1', '198.51.100.9')
  const openai = openAiClient(t, ann)
  const input_file_id = await uploadLines(openai, [lineOf('a', chatOf('x'))])
  const body = { input_file_id, endpoint: chatUrl, completion_window: '24h' }
  expect((await ann.call('GET', '/v1/batches')).body).toMatchObject({ data: [], has_more: false })
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
  const input_file_id = await uploadLines(openai, [lineOf('a', chatOf('x'))])
  const body = { input_file_id, endpoint: chatUrl, completion_window: '24h' }
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
  const made = await createBatch(openai, [lineOf('a', chatOf('x')), lineOf('b', chatOf('y'))])
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
