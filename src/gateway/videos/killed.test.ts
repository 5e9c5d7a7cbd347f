import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { json } from '../../testing/fakes/chat-scripts.ts'
import { raw } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { fakeUpstreamTable } from '../../testing/fixtures/fake-models.ts'
import { mp4Bytes } from '../../testing/fixtures/videos.ts'
import {
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-killed-film-'))
const dataDir = join(folder, 'data')
const env = { OLLAMA_HOST: 'off', VIDEO_POLL_SECONDS: '1' }

const fake = startFakeUpstream()
mkdirSync(dataDir)
const models = ['video-ok', 'hang'].map(
  (name) => `[[model]]
id = "video/${name}"
upstream = "fake"
upstream_model = "fake/${name}"
type = "video"
price = { per_second = "0.1" }
`,
)
writeFileSync(join(dataDir, 'berth.toml'), [fakeUpstreamTable(fake.baseUrl), ...models].join('\n'))
fake.script('/videos/film', json(200, { status: 'in_progress' }))
fake.script('/videos/film/content', raw(mp4Bytes, 'video/mp4'))
afterAll(() => {
  fake.close()
  rmSync(folder, { recursive: true, force: true })
})

const bodyOf = async (response: Promise<Response>): Promise<Record<string, unknown>> =>
  Object(await (await response).json())

const begin = (ctx: ServerProcess, key: string, name: string) =>
  ctx.call('POST', '/v1/videos', key, { model: `video/${name}`, prompt: 'A boat' })

async function kill(ctx: ServerProcess): Promise<ServerProcess> {
  ctx.kill('SIGKILL')
  await ctx.exited
  return startServerProcess(dataDir, { env })
}

test('survives kill -9: charges a running video once and releases an interrupted submission', async () => {
  let ctx = await startServerProcess(dataDir, { env })
  const account = await bodyOf(ctx.call('POST', '/accounts/create'))
  const [creditId, key] = [textAt(account, 'credit_id'), textAt(account, 'api_key')]
  expect((await runBerth(['grant', creditId, '1', '--data', dataDir])).code).toBe(0)
  const balance = () => bodyOf(ctx.call('POST', '/credits/balance', key, {}))
  const created = await bodyOf(begin(ctx, key, 'video-ok'))
  const poll = () => bodyOf(ctx.call('GET', `/v1/videos/${String(created.id)}`, key))
  const polls = () => fake.received.filter(({ path }) => path.endsWith('/videos/film')).length
  begin(ctx, key, 'hang').catch(() => undefined)
  await until(async () => polls() > 0 && (await balance()).held === 0.8)

  // Twice: other jobs fail after one restart, videos do not.
  for (let kills = 0; kills < 2; kills += 1) {
    ctx = await kill(ctx)
    const before = polls()
    await until(async () => polls() > before && (await balance()).held === 0.4)
    expect(await poll()).toMatchObject({ status: 'pending', estimated_cost: 0.4 })
  }
  fake.script('/videos/film', json(200, { status: 'completed', seconds: '4' }))
  await until(async () => (await poll()).status === 'completed')
  ctx = await kill(ctx)
  const done = await poll()
  expect(done).toMatchObject({ status: 'completed', cost: 0.4 })
  expect(Buffer.from(await (await fetch(String(done.url))).bytes())).toEqual(mp4Bytes)
  expect(await balance()).toMatchObject({ balance: 0.6, held: 0 })
  expect(await bodyOf(ctx.call('GET', '/queries/history', key))).toMatchObject({
    data: [
      { model: 'video/video-ok', status: 'completed', price_in_usd: 0.4 },
      { model: 'video/hang', status: 'failed', price_in_usd: 0 },
    ],
    total: 2,
  })
  ctx.kill('SIGTERM')
  expect(await ctx.exited).toBe(0)
  const doctor = await runBerth(['doctor', '--data', dataDir])
  expect([doctor.code, doctor.out]).toEqual([0, expect.stringContaining('sound')])
}, 60_000)
