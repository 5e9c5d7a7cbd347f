import { afterAll, expect, test } from 'bun:test'

import { day, hour } from '../../kernel/time.ts'
import { openAiClient } from '../../testing/clients/openai-client.ts'
import { chatOf, createBatch, lineOf, resultsOf } from '../../testing/fixtures/batches.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { deleteOld } from './batches.ts'
import { storeResponse } from './results.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const client = openAiClient(t, gus)
afterAll(() => t.close())

test('lines of a cancelled batch that did not run are errors', async () => {
  const made = await createBatch(client, [lineOf('a', chatOf('x')), lineOf('b', chatOf('y'))])
  expect(await client.batches.cancel(made.id)).toMatchObject({ status: 'cancelling' })
  await t.ctx.jobs.runDue()
  const done = await client.batches.retrieve(made.id)
  expect(done).toMatchObject({ status: 'cancelled', request_counts: { total: 2, failed: 2 } })
  expect(await resultsOf(client, done.error_file_id)).toMatchObject({
    a: { response: null, error: { code: 'batch_cancelled' } },
  })
  expect(await client.batches.cancel(made.id)).toMatchObject({ status: 'cancelled' })
})

test('a batch expires after 24 hours', async () => {
  const made = await createBatch(client, [lineOf('a', chatOf('x'))])
  t.clock.advance(25 * hour)
  await t.ctx.jobs.runDue()
  const done = await client.batches.retrieve(made.id)
  expect(done.status).toBe('expired')
  expect(await resultsOf(client, done.error_file_id)).toMatchObject({
    a: { error: { code: 'batch_expired' } },
  })
})

test('a batch that expires while the server is down keeps the results of its paid lines', async () => {
  const made = await createBatch(client, [lineOf('a', chatOf('x')), lineOf('b', chatOf('y'))])
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

test('a batch fails when its input file is deleted', async () => {
  const made = await createBatch(client, [lineOf('a', chatOf('x'))])
  await client.files.delete(made.input_file_id)
  await t.ctx.jobs.runDue()
  const done = await client.batches.retrieve(made.id)
  expect([done.status, done.errors?.data?.[0]?.code]).toEqual(['failed', 'input_file_deleted'])
})

test('a revoked key pays no further line', async () => {
  const key = (await gus.call('POST', '/accounts/keys', { name: 'two' })).text('api_key')
  const own = openAiClient(t, { ...gus, key })
  const made = await createBatch(own, [lineOf('a', chatOf('x'))])
  await gus.call('DELETE', `/accounts/keys/${key.slice(0, 11)}`)
  await t.ctx.jobs.runDue()
  const { error_file_id } = await client.batches.retrieve(made.id)
  expect(await resultsOf(client, error_file_id)).toMatchObject({
    a: { response: { status_code: 401 } },
  })
})

test('maintenance deletes a batch after 30 days', async () => {
  t.clock.advance(31 * day)
  await deleteOld(t.ctx)
  expect((await client.batches.list()).data).toEqual([])
})
