import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { fakeModelsToml } from '../../testing/fixtures/fake-models.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-killed-batch-'))
const dataDir = join(folder, 'data')
const env = { OLLAMA_HOST: 'off' }

const fake = startFakeUpstream()
mkdirSync(dataDir)
writeFileSync(join(dataDir, 'berth.toml'), fakeModelsToml(fake.baseUrl, ['ok', 'hang']))
afterAll(() => {
  fake.close()
  rmSync(folder, { recursive: true, force: true })
})

const bodyOf = async (response: Promise<Response>): Promise<Record<string, unknown>> =>
  Object(await (await response).json())

const endpoint = '/v1/chat/completions'
const lineOf = (custom_id: string, model: string) =>
  JSON.stringify({
    custom_id,
    method: 'POST',
    url: endpoint,
    body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 },
  })

async function upload({ origin }: ServerProcess, key: string, lines: string[]): Promise<string> {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([lines.join('\n')], 'a.jsonl'))
  const headers = { authorization: `Bearer ${key}` }
  return textAt(
    await bodyOf(fetch(`${origin}/v1/files`, { method: 'POST', body: form, headers })),
    'id',
  )
}

test('after kill -9 no line of a batch is charged twice, and the ledger is sound', async () => {
  let server = await startServerProcess(dataDir, { env })
  const account = await bodyOf(server.call('POST', '/accounts/create'))
  const [creditId, key] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  expect((await runBerth(['grant', creditId, '1', '--data', dataDir])).code).toBe(0)
  const oks = Array.from({ length: 6 }, (_, at) => lineOf(`ok-${at}`, 'fake/ok'))
  const input_file_id = await upload(server, key, [...oks, lineOf('hangs', 'fake/hang')])
  const sent = { input_file_id, endpoint, completion_window: '24h' }
  const created = await bodyOf(server.call('POST', '/v1/batches', key, sent))
  const path = `/v1/batches/${String(created.id)}`
  const get = () => bodyOf(server.call('GET', path, key))
  // The hanging line holds its credits, and the others are done.
  await until(async () => Object((await get()).request_counts).completed === 6)
  let at = 0
  while ((await fake.arrival(at)).body.model !== 'fake/hang') at += 1
  server.kill('SIGKILL')
  await server.exited
  server = await startServerProcess(dataDir, { env })
  await until(async () => (await get()).status === 'completed')
  const done = await get()
  expect(done.request_counts).toEqual({ total: 7, completed: 6, failed: 1 })
  const errors = await server.call('GET', `/v1/files/${String(done.error_file_id)}/content`, key)
  expect(JSON.parse(await errors.text())).toMatchObject({
    custom_id: 'hangs',
    response: { status_code: 502, body: { error: { code: 'unreadable_response' } } },
  })
  expect(fake.received.map(({ body }) => body.model).toSorted()).toEqual([
    'fake/hang',
    ...oks.map(() => 'fake/ok'),
  ])
  const history = await bodyOf(server.call('GET', '/queries/history', key))
  expect(history.total).toBe(7)
  const balance = await bodyOf(server.call('POST', '/credits/balance', key, {}))
  expect(balance.held).toBe(0)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  const doctor = await runBerth(['doctor', '--data', dataDir])
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining('sound')])
}, 60_000)
