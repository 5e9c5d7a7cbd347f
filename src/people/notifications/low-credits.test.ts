import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { fromCredits, nano, type NanoUsd } from '../../kernel/money.ts'
import { accountOf, serviceAccounts } from '../../money/ledger/accounts.ts'
import { balanceOf, grantTo, transfer } from '../../money/ledger/ledger.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
} from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

setDefaultTimeout(60_000)

const t = await startTestServer({
  EMBEDDED_ASSET_CREDITS: '2',
})
const shop = await t.agent('seller')
const priced = await shop.publish({ store: true, remix: 'price', priceRemix: 1 })
afterAll(() => t.close())

const ownerOf = async ({ key }: TestAgent) =>
  ({ kind: 'agent', owner: (await t.ctx.keys.find(key))?.owner ?? '' }) as const

let moves = 0
/** Spends an agent's credits down to a balance. Below 50 is low. */
async function bringTo(who: TestAgent, credits = 50): Promise<void> {
  const owner = await ownerOf(who)
  const { balance } = await balanceOf(t.ctx, owner)
  const [account, ref] = [accountOf(owner), `move-${(moves += 1)}`]
  const more: NanoUsd = nano(balance - fromCredits(credits))
  if (more < 0n) await grantTo(t.ctx, owner, { amount: nano(-more), kind: 'gift', ref })
  if (more <= 0n) return
  const to = [{ account: serviceAccounts.income, amount: more }]
  await t.ctx.db.tx((db) => transfer(t.ctx, db, { from: account, to, ref, kind: 'test' }))
}

const lowOf = async (who: TestAgent): Promise<number> =>
  Object((await who.call('GET', '/me/notes?kind=credits.low')).body).notes.length

const chat = { model: 'demo/chat', messages: [{ role: 'user', content: 'Ahoy' }] }
const gateway = (path: string, body: object) => (who: TestAgent) =>
  t.request('POST', path, { key: who.key, body })

const purchases: [what: string, spend: (who: TestAgent) => Promise<TestResponse>][] = [
  ['a chat', gateway('/v1/chat/completions', chat)],
  ['a streamed chat', gateway('/v1/chat/completions', { ...chat, stream: true })],
  ['a response', gateway('/v1/responses', { model: 'demo/chat', input: 'Ahoy' })],
  ['embeddings', gateway('/v1/embeddings', { model: 'demo/embedding', input: 'Ahoy' })],
  ['a picture', gateway('/v1/images/generations', { model: 'demo/image', prompt: 'a boat' })],
  ['speech', gateway('/v1/audio/speech', { model: 'demo/speech', input: 'Ahoy' })],
  [
    'a film',
    async (who) => {
      const body = { model: 'demo/video', prompt: 'a boat', duration: '1' }
      const created = await t.request('POST', '/v1/videos', { key: who.key, body })
      t.clock.advance(60_000)
      await t.ctx.jobs.runDue()
      return created
    },
  ],
  [
    'an asset',
    async (who) => {
      const coin = { name: 'coin', kind: 'sound', what: 'coin' }
      const path = `/apps/${await who.publish()}/assets`
      // The call waits for fast generators.
      let response: TestResponse | undefined
      const pending = who
        .call('POST', path, { assets: [coin] })
        .then((created) => (response = created))
      await until(() => t.ctx.jobs.runDue().then(() => response !== undefined))
      return pending
    },
  ],
  ['an icon', async (who) => who.call('PUT', `/apps/${await who.publish()}/icon`, { make: true })],
  ['a remix', (who) => who.call('POST', `/apps/${priced}/remix`)],
]

test.each(purchases)(
  '%s that leaves less than 50 credits notifies once for each fall',
  async (what, spend) => {
    const who = await t.agent(what.replaceAll(' ', '-'))
    await bringTo(who)
    expect(await lowOf(who)).toBe(0)
    const first = await spend(who)
    expect([first.status < 300, await lowOf(who)]).toEqual([true, 1])
    expect((await spend(who)).status).toBeLessThan(300)
    expect(await lowOf(who)).toBe(1)
    await bringTo(who)
    await spend(who)
    expect(await lowOf(who)).toBe(2)
  },
)

test('a published build notifies; a released hold does not', async () => {
  const who = await t.agent('builder-of-games')
  const game = { kind: 'game', prompt: 'a game where a fox collects coins and dodges rocks' }
  Object.assign(t.ctx.config, { embeddedAssetCredits: 10 })
  const { price } = Object((await who.call('POST', '/apps', { ...game, dryRun: true })).body)
  await bringTo(who, Math.ceil(price))
  const given = await who.call('POST', '/apps', game)
  await who.call('DELETE', `/jobs/${given.text('job.id')}`)
  expect(await lowOf(who)).toBe(0)
  await who.call('POST', '/apps', game)
  Object.assign(t.ctx.config, { embeddedAssetCredits: 12 })
  await t.ctx.jobs.runDue()
  expect(Object((await who.call('GET', '/me')).body).credits).toBeLessThan(50)
  expect(await lowOf(who)).toBe(1)
})
