import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { fakeModelsToml } from '../../testing/fixtures/fake-models.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-killed-chat-'))
const dataDir = join(folder, 'data')
const env: { OLLAMA_HOST: string; DATABASE_URL?: string } = { OLLAMA_HOST: 'off' }

if (dialect === 'postgres') env.DATABASE_URL = await createDatabase()
const fake = startFakeUpstream()
mkdirSync(dataDir)
writeFileSync(join(dataDir, 'berth.toml'), fakeModelsToml(fake.baseUrl, ['ok', 'hang', 'cut']))
fake.script('fake/cut', [...(scripts.ok?.stream.slice(0, 4) ?? []), { do: 'hang' }])
afterAll(async () => {
  fake.close()
  if (env.DATABASE_URL) await dropDatabase(env.DATABASE_URL)
  rmSync(folder, { recursive: true, force: true })
})

const numberAt = async (response: Response, name: string): Promise<number> => {
  const value: unknown = Reflect.get(Object(await response.json()), name)
  if (typeof value !== 'number') throw new Error(`there is no number ${name}`)
  return value
}

/** Calls under an Idempotency-Key. */
const ask = (ctx: ServerProcess, key: string, named: string, body: object): Promise<Response> =>
  fetch(`${ctx.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': named,
    },
    body: JSON.stringify(body),
  })

const hello = (model: string, stream: boolean) => ({
  model,
  stream,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello.' }],
})

/** Starts a call that its upstream never ends. Resolves when the upstream has it. */
async function begin(
  ctx: ServerProcess,
  key: string,
  model: string,
  stream: boolean,
): Promise<void> {
  const before = fake.received.length
  const response = ask(ctx, key, model, hello(model, stream))
  // A completion breaks off when its server is killed.
  response.catch(() => undefined)
  await fake.arrival(before)
  if (stream) await (await response).body?.getReader().read()
}

test('after kill -9 during calls a restart charges each hold and the ledger is sound', async () => {
  let ctx = await startServerProcess(dataDir, { env })
  const account = await (await ctx.call('POST', '/accounts/create')).json()
  const [creditId, key] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  expect((await runBerth(['grant', creditId, '1', '--data', dataDir])).code).toBe(0)
  const paid = await ctx.call('POST', '/v1/chat/completions', key, {
    model: 'fake/ok',
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  const cost = await numberAt(new Response(JSON.stringify(Object(await paid.json()).usage)), 'cost')
  const calls = [
    ['fake/hang', false],
    ['fake/cut', true],
  ] as const
  for (const [model, stream] of calls) await begin(ctx, key, model, stream)
  const held = await numberAt(await ctx.call('POST', '/credits/balance', key, {}), 'held')
  expect(held).toBeGreaterThan(0)
  ctx.kill('SIGKILL')
  await ctx.exited

  ctx = await startServerProcess(dataDir, { env })
  // A retry under the same key learns of the charge at once and pays nothing more.
  for (const [model, stream] of calls) {
    const again = await ask(ctx, key, model, hello(model, stream))
    expect([again.status, again.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(await again.json()).toMatchObject({ error: { code: 'unreadable_response' } })
    const other = await ask(ctx, key, model, hello(model, !stream))
    expect(other.status).toBe(409)
  }
  const after = async (name: string) =>
    numberAt(await ctx.call('POST', '/credits/balance', key, {}), name)
  await until(async () => (await after('held')) === 0)
  expect(await after('balance')).toBeCloseTo(1 - cost - held, 9)
  const { data, total } = Object(await (await ctx.call('GET', '/queries/history', key)).json())
  const [first, second] = data
  expect(total).toBe(3)
  expect(first.price_in_usd + second.price_in_usd).toBeCloseTo(held, 9)
  for (const row of [first, second]) {
    expect(row).toMatchObject({ type: 'chat', status: 'failed', estimated: true })
  }
  ctx.kill('SIGTERM')
  await ctx.exited
  const doctor = await runBerth(['doctor', '--data', dataDir], { env })
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining('sound')])
}, 60_000)
