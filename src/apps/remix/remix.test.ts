import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { doctor } from '../../money/ledger/doctor.ts'
import { pauseAgent } from '../../people/agents/spending.ts'
import { expectError } from '../../testing/expect-error.ts'
import {
  startTestServer,
  type TestAgent,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { pauseMethod } from '../../testing/pause-method.ts'
import { takeDown } from '../moderation/moderation.ts'
import { apps } from '../tables.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent

async function open(settings: Parameters<typeof startTestServer>[0] = {}) {
  await t?.close()
  t = await startTestServer(settings)
  ann = await t.agent('ann')
  ben = await t.agent('ben')
}

beforeEach(() => open())
afterEach(async () => {
  expect(t.lines.filter(({ level }) => level === 'error')).toEqual([])
  expect(await doctor(t.ctx)).toMatchObject({ ok: true })
})

const html = '<!doctype html><title>Boat</title><p>hello</p>'
const priced = { html, store: true, remix: 'price', priceRemix: 51 }
const nobody = 'A'.repeat(12)

const remix = (person: TestAgent, id: string, body?: object): Promise<TestResponse> =>
  person.call('POST', `/apps/${id}/remix`, body)

async function creditsOf(person: TestAgent): Promise<number> {
  const { body } = await person.call('GET', '/me')
  return Number(Reflect.get(Object(body), 'credits'))
}

describe('a remix', () => {
  test('copies page, files and credit for free', async () => {
    const game = { html, store: true, kind: 'game', shelf: 'sim', description: 'a' }
    const id = await ann.publish(game)
    await ann.call('PUT', `/apps/${id}/assets/level.json`, '[1,2,3]')
    const { files, bytes } = await t.ctx.storage.usage()
    const { status, body } = await remix(ben, id)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      app: {
        kind: 'game',
        title: 'Boat',
        shelf: 'sim',
        description: 'a',
        version: 1,
        store: false,
        remix: 'free',
        priceRemix: null,
        remixOf: { id, title: 'Boat', maker: '@ann' },
      },
      html,
      bought: { item: id, version: 1, title: 'Boat', maker: '@ann', credits: 0, makerCredits: 0 },
      note: expect.stringContaining('@ann is credited'),
    })
    expect(await t.ctx.storage.usage()).toMatchObject({ files, bytes })
    const copy: string = Reflect.get(Object(Reflect.get(Object(body), 'app')), 'id')
    const file = await ben.call('GET', `/apps/${copy}/assets/level.json`)
    expect(file.body).toEqual([1, 2, 3])
    expect((await ben.call('GET', `/apps/${copy}/versions`)).body).toMatchObject({
      versions: [{ version: 1, via: 'remix' }],
    })
    expect((await t.request('GET', `/a/${copy}/data`)).body).toBe(html)
    expect(await creditsOf(ben)).toBe(400)
  })

  test('pays 80 % of a price to the maker as an earning', async () => {
    const id = await ann.publish(priced)
    const { body } = await remix(ben, id, { maxCredits: 51, ref: 'remix-0001' })
    expect(body).toMatchObject({
      bought: {
        credits: 51,
        makerCredits: 40.8,
        ref: 'remix-0001',
        at: '2026-05-04T12:00:00.000Z',
      },
    })
    expect([await creditsOf(ann), await creditsOf(ben)]).toEqual([440.8, 349])
    expect((await ann.call('GET', '/me/ledger')).body).toMatchObject({
      entries: [{ kind: 'remix', item: id, credits: 40.8 }, {}],
    })
    expect((await ben.call('GET', '/me')).body).toMatchObject({ spend: { remixes: 51, total: 51 } })
  })

  test('credits every ancestor of a chain, deleted ones too', async () => {
    const cy = await t.agent('cyd')
    const root = await ann.publish({ title: 'Root', store: true })
    const second = (await remix(ben, root)).text('app.id')
    await ben.call('PATCH', `/apps/${second}`, { title: 'Second', store: true })
    const third = (await remix(cy, second)).text('app.id')
    await cy.call('PATCH', `/apps/${third}`, { title: 'Third', store: true })
    await ann.call('DELETE', `/apps/${root}`)
    await ben.call('PATCH', `/apps/${second}`, { title: '@ann made this', store: false })
    const { body } = await t.call('GET', `/explore/${third}`)
    expect(body).toMatchObject({
      item: { remixOf: { id: second, title: 'Second', maker: '@ben' } },
      lineage: [
        { id: second, title: 'Second', maker: '@ben' },
        { id: root, title: 'Root', maker: '@ann' },
      ],
    })
  })

  test('of an own app is free, always allowed and not counted', async () => {
    const id = await ann.publish({ ...priced, store: false })
    expect((await remix(ann, id, { maxCredits: 0 })).body).toMatchObject({ bought: { credits: 0 } })
    await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })
    expect((await remix(ann, id)).status).toBe(201)
    expect((await ann.call('GET', `/apps/${id}`)).body).toMatchObject({ app: { remixes: 0 } })
    expect(await creditsOf(ann)).toBe(400)
  })

  test('copies the version on Explore', async () => {
    const id = await ann.publish({ html, store: true })
    const clean = html.replace('hello', 'two')
    await ann.call('POST', `/apps/${id}/versions`, { html: clean })
    const away =
      '<title>x</title><meta http-equiv="refresh" content="0;url=https://elsewhere.test/">'
    await ann.call('POST', `/apps/${id}/versions`, { html: away })
    expect((await remix(ben, id)).body).toMatchObject({ html: clean, bought: { version: 2 } })
    expect((await remix(ann, id)).body).toMatchObject({ html: away, bought: { version: 3 } })
  })

  test('copies the version that was published during the scan', async () => {
    const id = await ann.publish(priced)
    const { inspector } = t.ctx
    const inspect = inspector.inspect.bind(inspector)
    let isPublished = false
    const afterOne: typeof inspect = async (...page) => {
      if (!isPublished) {
        isPublished = true
        await ann.call('POST', `/apps/${id}/versions`, { html: `${html}<p>two` })
      }
      return inspect(...page)
    }
    Object.assign(inspector, { inspect: afterOne })
    expect((await remix(ben, id)).body).toMatchObject({ bought: { version: 2, credits: 51 } })
  })

  test('returns the exact bytes of the page', async () => {
    const odd = '\ufeff<!doctype html>\r\n<p>é🚀</p>\n\n'
    const id = await ann.publish({ html: odd, store: true })
    expect((await remix(ben, id)).body).toMatchObject({ html: odd })
    expect((await t.call('GET', `/explore/${id}/source`)).body).toMatchObject({ html: odd })
  })
})

describe('the same ref', () => {
  test('buys once and repeats the response', async () => {
    const id = await ann.publish(priced)
    const first = await remix(ben, id, { ref: 'remix-0001' })
    const before = await t.snapshot()
    const again = await remix(ben, id, { ref: 'remix-0001' })
    const header = { 'idempotency-key': 'remix-0001' }
    const byHeader = await ben.call('POST', `/apps/${id}/remix`, undefined, header)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(byHeader.body).toEqual(first.body)
    expect(await t.snapshot()).toEqual(before)
    expect(await creditsOf(ben)).toBe(349)
  })

  test('returns no page when the copy was taken down', async () => {
    const id = await ann.publish(priced)
    const first = await remix(ben, id, { ref: 'remix-0001' })
    await takeDown(t.ctx, first.text('app.id'), 'spam', 'operator')
    await expectError(t, 410, 'taken_down', () => remix(ben, id, { ref: 'remix-0001' }))
  })

  test('with another body or app is ref_conflict', async () => {
    const id = await ann.publish(priced)
    const other = await ann.publish({ ...priced, html: `${html}!` })
    await remix(ben, id, { ref: 'remix-0001' })
    const bodies: [string, object][] = [
      [id, { ref: 'remix-0001', maxCredits: 51 }],
      [other, { ref: 'remix-0001' }],
    ]
    for (const [item, body] of bodies) {
      await expectError(t, 409, 'ref_conflict', () => remix(ben, item, body))
    }
    await expectError(t, 409, 'ref_conflict', () =>
      ben.call('POST', '/apps', { html, ref: 'remix-0001' }),
    )
    const cy = await t.agent('cyd')
    expect((await remix(cy, id, { ref: 'remix-0001' })).status).toBe(201)
  })

  test('buys once when sent concurrently', async () => {
    const id = await ann.publish(priced)
    const { begun, go } = pauseMethod(t.ctx.inspector, 'inspect')
    const first = remix(ben, id, { ref: 'remix-0001' })
    await begun
    const twins = Array.from({ length: 20 }, () => remix(ben, id, { ref: 'remix-0001' }))
    for (const { code } of await Promise.all(twins)) expect(code).toBe('busy')
    go()
    expect((await first).status).toBe(201)
    expect(await creditsOf(ben)).toBe(349)
  })
})

test('100 concurrent remixes with credits for two buy two', async () => {
  const id = await ann.publish({ ...priced, priceRemix: 200 })
  const all = await Promise.all(Array.from({ length: 100 }, () => remix(ben, id)))
  const codes = all.map(({ status, code }) => code ?? status)
  expect(codes.filter((code) => code === 201)).toHaveLength(2)
  expect(codes.filter((code) => code === 'not_enough_credits')).toHaveLength(98)
  expect([await creditsOf(ann), await creditsOf(ben)]).toEqual([720, 0])
  expect((await ben.call('GET', '/apps')).body).toMatchObject({ apps: [{}, {}] })
  expect((await t.call('GET', `/explore/${id}`)).body).toMatchObject({ item: { remixes: 2 } })
})

describe('during the scan the original may', () => {
  /** Runs a remix and calls `change` during its scan. */
  async function remixWhile(id: string, happens: () => Promise<unknown>, body?: object) {
    const { begun, go } = pauseMethod(t.ctx.inspector, 'inspect')
    const response = remix(ben, id, body)
    await begun
    await happens()
    go()
    return response
  }

  test('become more expensive than maxCredits', async () => {
    const id = await ann.publish(priced)
    const dearer = () => ann.call('PATCH', `/apps/${id}`, { priceRemix: 60 })
    expect((await remixWhile(id, dearer, { maxCredits: 51 })).code).toBe('price_above_max')
    expect(await creditsOf(ben)).toBe(400)
  })

  test('be taken down, delisted or deleted without a charge', async () => {
    const ends: [(id: string) => Promise<unknown>, string][] = [
      // The scan knows the blocked page and runs first.
      [(id) => takeDown(t.ctx, id, 'spam', 'operator'), 'blocked_by_scan'],
      [(id) => ann.call('PATCH', `/apps/${id}`, { store: false }), 'not_found'],
      [(id) => ann.call('DELETE', `/apps/${id}`), 'not_found'],
      [(id) => ann.call('PATCH', `/apps/${id}`, { remix: 'off' }), 'no_remix'],
    ]
    for (const [at, [end, code]] of ends.entries()) {
      const id = await ann.publish({ ...priced, html: `${html}${at}` })
      expect((await remixWhile(id, () => end(id))).code).toBe(code)
    }
    expect(await creditsOf(ben)).toBe(400)
    expect((await ben.call('GET', '/apps')).body).toMatchObject({ apps: [] })
  })
})

describe('a remix is rejected', () => {
  test('without a key and with an invalid body', async () => {
    const id = await ann.publish(priced)
    await expectError(t, 401, 'no_key', () => t.call('POST', `/apps/${id}/remix`))
    const bad = [
      { maxCredits: -1 },
      { maxCredits: 100_001 },
      { maxCredits: 1.5 },
      { maxCredits: '51' },
      { ref: 'short' },
      { ref: 'a'.repeat(65) },
      { ref: 'monday 001' },
      { ref: 7 },
      { price: 1 },
      { maxCredits: null },
      [],
      ['x'],
    ]
    for (const body of bad) {
      await expectError(t, 400, 'bad_request', () => remix(ben, id, body))
    }
  })

  test('not_found for unknown, unlisted and deleted apps; taken_down', async () => {
    const hidden = await ann.publish({ html })
    const deleted = await ann.publish(priced)
    await ann.call('DELETE', `/apps/${deleted}`)
    const none = await remix(ben, nobody)
    for (const id of [nobody, hidden, deleted, 'x', "1'or'1'='1"]) {
      const { body } = await expectError(t, 404, 'not_found', () => remix(ben, id))
      expect(body).toEqual(none.body)
    }
    const down = await ann.publish({ ...priced, html: `${html}!` })
    await takeDown(t.ctx, down, 'spam', 'operator')
    await expectError(t, 410, 'taken_down', () => remix(ben, down))
    await expectError(t, 410, 'taken_down', () => remix(ann, down))
  })

  test('no_remix: an app without remixes or prices cannot be remixed', async () => {
    const off = await ann.publish({ html, store: true, remix: 'off' })
    await expectError(t, 403, 'no_remix', () => remix(ben, off))
    const id = await ann.publish(priced)
    t.ctx.config.pricesOn = false
    await expectError(t, 403, 'no_remix', () => remix(ben, id))
    await expectError(t, 403, 'no_remix', () => t.call('GET', `/explore/${id}/source`))
  })

  test('price_above_max, not_enough_credits, daily_cap', async () => {
    const id = await ann.publish(priced)
    const { body } = await expectError(t, 402, 'price_above_max', () =>
      remix(ben, id, { maxCredits: 50 }),
    )
    expect(JSON.stringify(body)).toContain('costs 51 credits')
    const dear = await ann.publish({ ...priced, priceRemix: 401 })
    await expectError(t, 402, 'not_enough_credits', () => remix(ben, dear))
    await open({ DAILY_CAP_CREDITS: '50' })
    const capped = await ann.publish(priced)
    await expectError(t, 402, 'daily_cap', () => remix(ben, capped))
  })

  test('paused: a paused agent buys nothing but copies free apps', async () => {
    const id = await ann.publish(priced)
    const free = await ann.publish({ html, store: true })
    expect(await pauseAgent(t.ctx, ben.handle, true)).toBe(true)
    await expectError(t, 403, 'paused', () => remix(ben, id))
    expect((await remix(ben, free)).status).toBe(201)
    await pauseAgent(t.ctx, ben.handle, false)
    expect((await remix(ben, id)).status).toBe(201)
  })

  test('busy: an own app without a version cannot be remixed', async () => {
    const id = await ann.publish({ html })
    await t.ctx.db.tx((db) => db.update(apps).set({ version: 0 }).where(eq(apps.id, id)))
    await expectError(t, 409, 'busy', () => remix(ann, id))
    await t.ctx.db.tx((db) => db.update(apps).set({ version: 1 }).where(eq(apps.id, id)))
  })

  test('games_off, publishes_limit, storage_full', async () => {
    const game = await ann.publish({ ...priced, kind: 'game' })
    t.ctx.config.gamesOn = false
    await expectError(t, 400, 'games_off', () => remix(ben, game))
    await open({ PUBLISHES_PER_HOUR: '1', BYTES_PER_AGENT: '100' })
    const id = await ann.publish(priced)
    expect((await remix(ben, id)).status).toBe(201)
    await expectError(t, 429, 'publishes_limit', () => remix(ben, id))
    t.ctx.config.publishesPerHour = 0
    expect((await remix(ben, id)).status).toBe(201)
    await expectError(t, 409, 'storage_full', () => remix(ben, id))
  })

  test('blocked_by_scan: a page that newer rules block cannot be remixed', async () => {
    const id = await ann.publish(priced)
    const cy = await t.agent('cyd')
    const same = await cy.publish({ html })
    await takeDown(t.ctx, same, 'spam', 'operator')
    const { body } = await expectError(t, 422, 'blocked_by_scan', () => remix(ben, id))
    expect(body).toMatchObject({ reasons: [expect.stringContaining('known.bad')] })
  })
})

describe('the source', () => {
  test('is public for free remixes, otherwise for maker and buyers', async () => {
    const free = await ann.publish({ html, store: true })
    await ann.call('PUT', `/apps/${free}/assets/level.json`, '[1,2,3]')
    const open = await t.call('GET', `/explore/${free}/source`)
    expect(open.body).toMatchObject({
      id: free,
      version: 1,
      html,
      assets: [{ name: 'level.json' }],
    })
    const look = new URL(open.text('assets.0.url'))
    expect((await t.request('GET', `${look.pathname}${look.search}`)).body).toEqual([1, 2, 3])

    const id = await ann.publish(priced)
    const path = `/explore/${id}/source`
    await expectError(t, 402, 'price_above_max', () => t.call('GET', path))
    await expectError(t, 402, 'price_above_max', () => ben.call('GET', path))
    await expectError(t, 401, 'bad_key', () => t.call('GET', path, { key: 'ak_nonsense' }))
    expect((await ann.call('GET', path)).status).toBe(200)
    await remix(ben, id)
    expect((await ben.call('GET', path)).body).toMatchObject({ html })
    await ann.call('PATCH', `/apps/${id}`, { remix: 'off' })
    await expectError(t, 403, 'no_remix', () => t.call('GET', path))
    expect((await ben.call('GET', path)).status).toBe(200)
  })

  test('of a later version is not included in an earlier free copy', async () => {
    const id = await ann.publish({ html, store: true })
    const path = `/explore/${id}/source`
    await remix(ben, id)
    await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 9 })
    expect((await ben.call('GET', path)).body).toMatchObject({ version: 1 })
    await ann.call('POST', `/apps/${id}/versions`, { html: `${html}<p>more` })
    await expectError(t, 402, 'price_above_max', () => ben.call('GET', path))
    await remix(ben, id)
    expect((await ben.call('GET', path)).body).toMatchObject({ version: 2 })
  })
})
