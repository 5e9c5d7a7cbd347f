import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { fromCredits } from '../../kernel/money.ts'
import { balanceOf, grantTo } from '../../money/ledger/ledger.ts'
import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstream } from '../../testing/fakes/upstream.ts'
import { fakeModelsToml } from '../../testing/fixtures/fake-models.ts'
import { serve } from './server.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-serve-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const quiet = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off', DATABASE_URL: '' }
const configOf = (more: Record<string, string> = {}) =>
  loadConfig({ DATA_DIR: dir, PORT: '0', ...quiet, ...more }, {})

test.each(['nowhere.invalid', '192.0.2.1'])(
  'an unknown HOST is named in the error: %s',
  async (HOST) => {
    await expect(serve(configOf({ HOST }))).rejects.toThrow(
      `cannot listen on HOST ${HOST} and PORT 0`,
    )
  },
)

const paidConfig = (urls: string) =>
  configOf({
    X402_NETWORK: 'base-sepolia',
    X402_RPC_URLS: urls,
    X402_PAY_TO: '0x000000000000000000000000000000000000dEaD',
    X402_GAS_KEY: `0x${'1'.repeat(64)}`,
  })
const waits = { networkWaitMs: 60_000, drainMs: 500, cutMs: 2_000, closeMs: 3_000 }
const down = 'http://127.0.0.1:1'

test('a server of another chain prevents the start, and one that is down does not', async () => {
  const fetch = () => Response.json({ jsonrpc: '2.0', id: 1, result: '0x1' })
  const mainnet = Bun.serve({ port: 0, fetch })
  const { origin, host } = mainnet.url
  await expect(serve(paidConfig(`${down},${origin}/key`), waits)).rejects.toThrow(
    `X402_RPC_URLS[1] (${host}): It serves chain 1 instead of 84532. Correct the URL.`,
  )
  await mainnet.stop(true)
  // Nothing of the failed start is left in the folder.
  const { stop } = await serve(paidConfig(down), waits)
  await stop()
}, 30_000)

test('a server of a chain that does not respond delays the start only for its wait', async () => {
  const silent = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) })
  const { stop } = await serve(paidConfig(silent.url.href), { ...waits, networkWaitMs: 10 })
  await stop()
  await silent.stop(true)
}, 30_000)

test('a database that does not respond does not prevent a stop', async () => {
  const { ctx, origin, stop } = await serve(configOf())
  expect((await fetch(`${origin}/readyz`)).status).toBe(200)
  const close = ctx.db.close
  Object.assign(ctx.db, { close: () => new Promise(() => {}) })
  await stop()
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow()
  await close()
}, 30_000)

test('a stop ends endless streams with an error event and charges what they carried', async () => {
  const fake = startFakeUpstream()
  fake.script('fake/endless', [...(scripts.ok?.stream.slice(0, 4) ?? []), { do: 'hang' }])
  writeFileSync(join(dir, 'berth.toml'), fakeModelsToml(fake.baseUrl, ['endless']))
  const { ctx, origin, stop } = await serve(configOf(), waits)
  const created = await fetch(`${origin}/accounts/create`, { method: 'POST' })
  const account: { credit_id: string; api_key: string } = JSON.parse(await created.text())
  const owner = { kind: 'gateway', owner: account.credit_id } as const
  await grantTo(ctx, owner, { amount: fromCredits(1_000), kind: 'grant', ref: 'r', free: false })
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'fake/endless',
      stream: true,
      messages: [{ role: 'user', content: 'Hello.' }],
    }),
  })
  const before = await balanceOf(ctx, owner)
  let after = before
  const close = ctx.db.close.bind(ctx.db)
  Object.assign(ctx.db, {
    close: async () => {
      after = await balanceOf(ctx, owner)
      await close()
    },
  })
  const stopped = stop()
  const text = await response.text()
  await stopped
  expect(text).toContain('"code":"upstream_stream_error"')
  expect(text).toContain('The server stopped')
  expect(text).not.toContain('[DONE]')
  expect(after.held).toBe(fromCredits(0))
  expect(after.balance).toBeLessThan(before.balance)
  expect(before.balance - after.balance).toBeLessThan(before.held / 10n)
  fake.close()
}, 30_000)
