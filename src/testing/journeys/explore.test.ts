import { afterAll, expect, test } from 'bun:test'

import { decideAppeal, takeDown } from '../../apps/moderation/moderation.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { startTestServer, type TestAgent } from '../fixtures/test-server.ts'

/** Four agents that use only HTTP. The ledger balances to the nano USD. */
const ctx = await startTestServer()
const ann = await ctx.agent('ann')
const ben = await ctx.agent('ben')
const cy = await ctx.agent('cyd')
const dan = await ctx.agent('dan')
afterAll(async () => {
  expect(ctx.lines.filter(({ level }) => level === 'error')).toEqual([])
  await ctx.close()
})

const game = '<!doctype html><title>Lamp</title><canvas></canvas><script>let lit = 0</script>'
const changed = game.replace('lit = 0', 'lit = 9')
let lamp = ''
let copy = ''

const creditsOf = async (person: TestAgent): Promise<unknown> =>
  Reflect.get(Object((await person.call('GET', '/me')).body), 'credits')

test('ann publishes a priced game with a file, and it is found', async () => {
  lamp = (
    await ann.call('POST', '/apps', {
      html: game,
      kind: 'game',
      shelf: 'arcade',
      description: 'Keep the lamp lit.',
      store: true,
      remix: 'price',
      priceRemix: 150,
    })
  ).text('app.id')
  await ann.call('PUT', `/apps/${lamp}/assets/level.json`, '[1,2,3]')
  const found = await ctx.call('GET', '/explore?q=lamp+lit&kind=game&shelf=arcade&price=paid')
  expect(found.body).toMatchObject({ items: [{ id: lamp, maker: '@ann', priceRemix: 150 }] })
  expect((await ctx.call('GET', `/explore/${lamp}/source`)).code).toBe('price_above_max')
})

test('ben buys a remix, charged once for his ref, changes it and shares it', async () => {
  const input = { maxCredits: 150, ref: 'ben-lamp-1' }
  const [one, two] = await Promise.all([
    ben.call('POST', `/apps/${lamp}/remix`, input),
    ben.call('POST', `/apps/${lamp}/remix`, input),
  ])
  // The second request can also arrive after the first has finished, and gets its result.
  const codes = [one, two].map(({ status, code }) => code ?? status).sort()
  expect([`${[201, 201]}`, `${[201, 'busy']}`]).toContain(`${codes}`)
  const bought = await ben.call('POST', `/apps/${lamp}/remix`, input)
  expect(bought.body).toMatchObject({ html: game, bought: { credits: 150, makerCredits: 120 } })
  copy = bought.text('app.id')
  expect((await ben.call('GET', `/apps/${copy}/assets/level.json`)).body).toEqual([1, 2, 3])
  expect((await ben.call('GET', `/explore/${lamp}/source`)).body).toMatchObject({ html: game })

  await ben.call('POST', `/apps/${copy}/versions`, { html: changed })
  await ben.call('PATCH', `/apps/${copy}`, { title: 'Lamps', store: true })
  expect((await ben.call('GET', '/apps')).body).toMatchObject({ apps: [{ id: copy, version: 2 }] })
})

test('cy cannot pay: nothing is copied or charged', async () => {
  await ann.call('PATCH', `/apps/${lamp}`, { priceRemix: 1_000 })
  const short = await cy.call('POST', `/apps/${lamp}/remix`, { ref: 'cy-lamp-01' })
  expect([short.status, short.code]).toEqual([402, 'not_enough_credits'])
  const capped = await cy.call('POST', `/apps/${lamp}/remix`, { maxCredits: 400 })
  expect([capped.status, capped.code]).toEqual([402, 'price_above_max'])
  expect(await creditsOf(cy)).toBe(400)
  expect((await cy.call('GET', '/apps')).body).toEqual({ apps: [], next: null })
})

test("dan remixes ben's remix for free, and everyone is credited by name", async () => {
  const made = await dan.call('POST', `/apps/${copy}/remix`)
  expect(made.body).toMatchObject({ html: changed, bought: { credits: 0 } })
  const id = made.text('app.id')
  await dan.call('PATCH', `/apps/${id}`, { title: 'More lamps', store: true })
  expect((await ctx.call('GET', `/explore/${id}`)).body).toMatchObject({
    lineage: [
      { id: copy, title: 'Lamps', maker: '@ben' },
      { id: lamp, title: 'Lamp', maker: '@ann' },
    ],
  })
  expect((await ctx.call('GET', `/explore/${lamp}`)).body).toMatchObject({
    item: { remixes: 1 },
    remixes: [{ id: copy, maker: '@ben' }],
  })
  expect((await ctx.call('GET', '/explore?sort=remixed&limit=2')).body).toMatchObject({
    items: [{ remixes: 1 }, { remixes: 1 }],
  })
})

test('dan reviews an app he used, ben one he bought, and ann replies', async () => {
  const unused = await dan.call('PUT', `/explore/${lamp}/review`, { stars: 5 })
  expect([unused.status, unused.code]).toEqual([403, 'not_used'])
  await ctx.request('GET', `/a/${lamp}`, { key: dan.key, from: dan.from })
  const input = { stars: 4, text: 'Bright, and hard to keep lit.' }
  const review = await dan.call('PUT', `/explore/${lamp}/review`, input)
  expect(review.status).toBe(201)
  expect((await ben.call('PUT', `/explore/${lamp}/review`, { stars: 5 })).status).toBe(201)
  expect((await ann.call('PUT', `/explore/${lamp}/review`, { stars: 5 })).code).toBe('own_item')
  const path = `/explore/${lamp}/comments`
  const comment = await dan.call('POST', path, { text: 'What lights it?' })
  expect((await ctx.call('GET', `/explore/${lamp}`)).body).toMatchObject({
    rating: { stars: 4.5, count: 2 },
  })

  const unread = await ann.call('GET', '/me/notes?unread')
  expect(unread.body).toMatchObject({
    notes: [
      { kind: 'comment.new', actor: '@dan', item: lamp },
      { kind: 'review.new', actor: '@ben', data: { stars: 5 } },
      { kind: 'review.new', actor: '@dan', data: { review: review.text('review.id'), stars: 4 } },
      { kind: 'remix.sold', actor: '@ben', data: { price: 150, credits: 120 } },
      { kind: 'app.listed', item: lamp },
    ],
  })
  const response = { text: 'Thank you. Oil helps.' }
  const answered = await ann.call('POST', `/reviews/${review.text('review.id')}/answer`, response)
  expect(answered.body).toMatchObject({ review: { answer: response } })
  await ann.call('POST', path, { text: 'Whale oil.', replyTo: comment.text('comment.id') })
  expect((await dan.call('GET', '/me/notes')).body).toMatchObject({
    notes: [{ kind: 'comment.reply' }, { kind: 'review.answered' }, { kind: 'app.listed' }],
  })
  await ann.call('POST', '/me/notes/read', { all: true })
  expect((await ann.call('GET', '/me')).body).toMatchObject({ unread: 0 })
})

test('a report quarantines the game, a takedown removes it, an appeal restores it', async () => {
  const shown = async () => {
    ctx.clock.advance(1_000)
    return (await ctx.request('GET', `/a/${lamp}`)).status
  }
  for (const from of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) {
    const body = { item: lamp, reason: 'phishing', text: 'It asks for my lamp.' }
    expect((await ctx.call('POST', '/report', { body, from })).status).toBe(201)
  }
  expect(await shown()).toBe(403)
  await takeDown(ctx.ctx, lamp, 'phishing', 'operator')
  expect(await shown()).toBe(410)
  expect((await dan.call('POST', `/apps/${lamp}/remix`)).code).toBe('taken_down')
  const input = { text: 'A lamp in a game is no password.' }
  expect((await ann.call('POST', `/apps/${lamp}/appeal`, input)).status).toBe(201)
  await decideAppeal(ctx.ctx, lamp, true, 'It is a game.', 'operator')
  expect(await shown()).toBe(200)
  await ann.call('PATCH', `/apps/${lamp}`, { store: true })
  expect((await ctx.call('GET', `/explore/${lamp}`)).status).toBe(200)
})

test('ann sees her exact earnings, and the ledger balances to the nano USD', async () => {
  expect((await ann.call('GET', '/me/ledger')).body).toMatchObject({
    entries: [
      { kind: 'remix', item: lamp, credits: 120, balance: 520 },
      { kind: 'start', credits: 400 },
    ],
  })
  const totals = { sales: 1, gross: 150, fee: 30, net: 120 }
  expect((await ann.call('GET', '/me/earnings')).body).toEqual({
    totals,
    byItem: [{ item: lamp, title: 'Lamp', ...totals }],
    next: null,
  })
  expect((await ben.call('GET', '/me')).body).toMatchObject({
    credits: 250,
    held: 0,
    spend: { remixes: 150, total: 150 },
  })
  expect(await doctor(ctx.ctx)).toMatchObject({ ok: true })
})
