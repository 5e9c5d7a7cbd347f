import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { eq, sql } from 'drizzle-orm'

import { expectError } from '../../testing/expect-error.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { takeDown } from '../moderation/moderation.ts'
import { flushOpens } from '../opens.ts'
import { mergeIndex } from '../search.ts'
import { apps } from '../tables.ts'

let t: TestServer
let ann: TestAgent
let ben: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  ben = await t.agent('ben')
})
afterEach(() => closeWithoutErrors(t))

const nobody = 'A'.repeat(12)

/** Lists an app one second after the last one. */
async function share(maker: TestAgent, title: string, more: object = {}): Promise<string> {
  t.clock.advance(1_000)
  return maker.publish({ title, store: true, ...more })
}

interface Page {
  titles: string[]
  next: string | null
}

async function titlesAt(path: string): Promise<Page> {
  const { status, body } = await t.call('GET', path)
  expect(status).toBe(200)
  const { items, next }: { items: { title: string }[]; next: string | null } = JSON.parse(
    JSON.stringify(body),
  )
  return { titles: items.map(({ title }) => title), next }
}

const titles = async (query: string): Promise<string[]> =>
  (await titlesAt(`/explore?${query}`)).titles

describe('GET /explore', () => {
  test('lists items, newest first, without a key', async () => {
    const first = await share(ann, 'First')
    await ann.publish({ title: 'Kept back' })
    await share(ben, 'Second', { kind: 'game', shelf: 'arcade', remix: 'price', priceRemix: 50 })
    const { body } = await t.call('GET', '/explore')
    expect(body).toMatchObject({
      items: [
        {
          title: 'Second',
          kind: 'game',
          shelf: 'arcade',
          maker: '@ben',
          version: 1,
          remix: 'price',
          priceRemix: 50,
          remixes: 0,
          opens: 0,
          remixOf: null,
          icon: null,
          rating: { stars: null, count: 0 },
        },
        { id: first, title: 'First', link: `http://localhost:3000/a/${first}`, remix: 'free' },
      ],
      next: null,
    })
    expect(JSON.stringify(body)).not.toContain('Kept back')
  })

  test('filters by kind, shelf, maker and price', async () => {
    await share(ann, 'Tool', { shelf: 'tools' })
    await share(ann, 'Game', { kind: 'game', shelf: 'arcade', remix: 'price', priceRemix: 5 })
    await share(ben, 'Closed', { remix: 'off' })
    expect(await titles('kind=game')).toEqual(['Game'])
    expect(await titles('kind=skill')).toEqual([])
    expect(await titles('kind=framework')).toEqual([])
    expect(await titles('shelf=tools')).toEqual(['Tool'])
    expect(await titles('maker=@ann')).toEqual(['Game', 'Tool'])
    expect(await titles('maker=ben&kind=app')).toEqual(['Closed'])
    expect(await titles('maker=nobody-here')).toEqual([])
    expect(await titles("maker=' or 1=1")).toEqual([])
    expect(await titles('price=paid')).toEqual(['Game'])
    expect(await titles('price=free')).toEqual(['Tool'])
    expect(await titles('price=free&shelf=arcade&kind=game&sort=top&q=game')).toEqual([])
  })

  const sorts = ['new', 'top', 'trending', 'remixed']
  test.each(sorts)('returns every item once over the pages of sort %s', async (sort) => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((letter) => `Boat ${letter}`)
    for (const title of all) await share(ann, title)
    for (const query of ['', '&q=boat', '&maker=ann']) {
      const seen: string[] = []
      let cursor: string | null = ''
      for (let pages = 0; cursor !== null && pages < 9; pages += 1) {
        const more: string = cursor ? `&cursor=${cursor}` : ''
        const page = await titlesAt(`/explore?sort=${sort}&limit=2${query}${more}`)
        seen.push(...page.titles)
        cursor = page.next
      }
      expect(seen).toEqual([...all].reverse())
    }
  })

  test('keeps the position of a relisted item', async () => {
    const first = await share(ann, 'First')
    await share(ben, 'Second')
    for (const store of [false, true]) {
      t.clock.advance(1_000)
      await ann.call('PATCH', `/apps/${first}`, { store })
    }
    expect(await titles('')).toEqual(['Second', 'First'])
  })

  test('rejects invalid queries and changed cursors', async () => {
    for (let made = 0; made < 3; made += 1) await share(ann, `Boat ${made}`)
    const { next } = await titlesAt('/explore?limit=2')
    const text = Buffer.from(next ?? '', 'base64url').toString()
    const forged = [
      text.replace('new', 'top'),
      text.replace(/ .*/, " 1' or '1'='1 x"),
      `${text} x`,
      text.replace(/\d+/, '1e99'),
    ].map((words) => `cursor=${Buffer.from(words).toString('base64url')}`)
    const bad = [
      'kind=movie',
      'shelf=top',
      'price=0',
      'sort=best',
      'limit=0',
      'limit=101',
      'cursor=x',
    ]
    for (const query of [...bad, ...forged, `q=${'a'.repeat(201)}`, `sort=top&cursor=${next}`]) {
      await expectError(t, 400, 'bad_request', () => t.call('GET', `/explore?${query}`))
    }
    const { body } = await t.call('GET', '/explore?limit=101')
    expect(body).toMatchObject({ error: expect.stringMatching(/^"limit" must be /) })
  })
})

describe('a search', () => {
  test('matches words or prefixes in any order, without diacritics and case', async () => {
    await share(ann, 'Bateau à vapeur', { description: 'A STEAM boat, for two.\nWith a whistle.' })
    await share(ben, '東京タワー', { description: 'v1.2 of foo-bar.com' })
    for (const q of ['boat steam', 'STEA', 'vapeur bateau', 'a whistle two', 'vàpèur']) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual(['Bateau à vapeur'])
    }
    for (const q of ['タワー', '京', 'bar', 'foo bar', 'v1', 'com']) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual(['東京タワー'])
    }
    expect(await titles('q=boat train')).toEqual([])
    for (const none of ['q=', 'q=%20']) expect(await titles(none)).toHaveLength(2)
  })

  test('finds emoji alone or beside words', async () => {
    await share(ann, 'Up🚀', { description: 'Waves 👋🏽 to 👩‍🚀' })
    await share(ben, 'Bonjour 🇫🇷')
    for (const q of ['🚀', '🚀🚀', '👋', '👋🏿 up', '👩‍🚀', '👩']) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual(['Up🚀'])
    }
    expect(await titles(`q=${encodeURIComponent('🇫🇷')}`)).toEqual(['Bonjour 🇫🇷'])
    for (const q of ['🛶', 'bonjour 🚀', '🇩🇪']) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual([])
    }
  })

  test('treats search syntax as plain words', async () => {
    await share(ann, 'Boat or train')
    await share(ann, 'Plane')
    const either = [
      'boat OR train',
      '"boat or"',
      '-boat +train',
      'boat*',
      '(boat & train)',
      'boat:*',
    ]
    for (const q of [...either, "boat' or 'train", 'words:boat'.slice(6), 'boat \\ %_']) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual(['Boat or train'])
    }
    const none = [
      'boat OR plane',
      'NOT boat',
      'words:boat',
      'facets:kapp',
      '***',
      '""',
      '\u0000',
      '🚀',
    ]
    const odd = ['NEAR(boat plane)', '^boat!', "');drop table apps;--", '𞤀', '\ufffe', 'ǅ', '1e5']
    for (const q of [...none, ...odd.filter((q) => q !== '^boat!')]) {
      expect(await titles(`q=${encodeURIComponent(q)}`)).toEqual([])
    }
    expect(await titles(`q=${encodeURIComponent('a '.repeat(100))}`)).toEqual([])
  })

  test('reflects renames, shelf changes, delisting, deletion and takedown', async () => {
    const id = await share(ann, 'Boat')
    const change = (body: object) => ann.call('PATCH', `/apps/${id}`, body)
    await change({ title: 'Ship', shelf: 'sim' })
    expect(await titles('q=boat')).toEqual([])
    expect(await titles('q=ship&shelf=sim')).toEqual(['Ship'])
    expect(await titles('q=ship&shelf=other')).toEqual([])
    await change({ store: false })
    expect(await titles('q=ship')).toEqual([])
    await change({ store: true })
    expect(await titles('q=ship')).toEqual(['Ship'])
    await ann.call('DELETE', `/apps/${id}`)
    expect(await titles('q=ship')).toEqual([])
    await ann.call('POST', `/apps/${id}/restore`)
    await change({ store: true })
    await takeDown(t.ctx, id, 'spam', 'operator')
    expect(await titles('q=ship')).toEqual([])
  })
})

test('a merged index gives the same results', async () => {
  const { db } = t.ctx
  const parts = async (): Promise<number> =>
    (await db.read.all(sql`select distinct segid from app_search_idx`)).length
  const queries = ['q=boat', 'q=boat+r&shelf=sim', 'q=boat&sort=top', 'q=gone', 'q=boat+blue']
  for (const title of ['Red boat', 'Blue boat', 'Gone boat']) await share(ann, title)
  const races = await share(ben, 'Boat races', { shelf: 'sim' })
  await ben.call('PATCH', `/apps/${races}`, { title: 'Boat rides' })
  const before = await Promise.all(queries.map(titles))
  if (db.kind === 'sqlite') expect(await parts()).toBeGreaterThan(1)
  await mergeIndex(t.ctx)
  if (db.kind === 'sqlite') expect(await parts()).toBe(1)
  expect(await Promise.all(queries.map(titles))).toEqual(before)
  expect(before.map(({ length }) => length)).toEqual([4, 1, 4, 1, 1])
  await share(ann, 'New boat')
  expect(await titles('q=new')).toEqual(['New boat'])
})

describe('the order', () => {
  test('top sorts by the lower bound of the rating', async () => {
    const rate = async (title: string, reviews: number, good: number) => {
      const id = await share(ann, title)
      await t.ctx.db.tx((db) =>
        db
          .update(apps)
          .set({ reviews, good, stars: good * 5 })
          .where(eq(apps.id, id)),
      )
    }
    await rate('One of one', 1, 1)
    await rate('Ninety of a hundred', 100, 90)
    await rate('Half of a thousand', 1_000, 500)
    await rate('None of ten', 10, 0)
    await rate('Unrated', 0, 0)
    const order = [
      'Ninety of a hundred',
      'Half of a thousand',
      'One of one',
      'Unrated',
      'None of ten',
    ]
    expect(await titles('sort=top')).toEqual(order)
  })

  test('trending counts an address once a day and decays', async () => {
    const [old, fresh] = [await share(ann, 'Old'), await share(ben, 'Fresh')]
    const open = async (id: string, from: string, parts = ['', '/data']) => {
      for (const part of parts) await t.request('GET', `/a/${id}${part}`, { from })
      await flushOpens(t.ctx)
    }
    // Opens the link without scripts.
    for (let host = 1; host <= 3; host += 1) await open(old, `198.51.100.${host}`, [''])
    for (let again = 0; again < 20; again += 1) await open(fresh, '198.51.100.1')
    // An IPv6 network counts as one visitor.
    for (let host = 1; host <= 20; host += 1) await open(fresh, `2001:db8:1:2::${host}`)
    expect(await titles('sort=trending')).toEqual(['Old', 'Fresh'])
    const { body } = await t.call('GET', `/explore/${fresh}`)
    expect(body).toMatchObject({ item: { opens: 2 } })
    t.clock.advance(6 * 86_400_000)
    await open(fresh, '198.51.100.1')
    expect(await titles('sort=trending')).toEqual(['Fresh', 'Old'])
  })

  test('remixed counts each agent once and never the maker', async () => {
    const [own, loved] = [await share(ann, 'Own'), await share(ann, 'Loved')]
    const again = await share(ann, 'Again')
    for (let copies = 0; copies < 3; copies += 1) {
      expect((await ann.call('POST', `/apps/${own}/remix`)).status).toBe(201)
      expect((await ben.call('POST', `/apps/${again}/remix`)).status).toBe(201)
    }
    const cy = await t.agent('cy')
    for (const agent of [ben, cy]) await agent.call('POST', `/apps/${loved}/remix`)
    expect(await titles('sort=remixed')).toEqual(['Loved', 'Again', 'Own'])
    expect((await t.call('GET', `/explore/${again}`)).body).toMatchObject({
      item: { remixes: 3 },
    })
    expect((await t.call('GET', `/explore/${own}`)).body).toMatchObject({
      item: { remixes: 0 },
    })
  })
})

describe('an item', () => {
  test('has versions, remixes, lineage and rating', async () => {
    const id = await share(ann, 'Boat')
    await ann.call('POST', `/apps/${id}/versions`, { html: '<title>Two</title><p>2</p>' })
    const copy = (await ben.call('POST', `/apps/${id}/remix`)).text('app.id')
    await ben.call('PATCH', `/apps/${copy}`, { title: 'Ship', store: true })
    const { body } = await t.call('GET', `/explore/${id}`)
    expect(body).toMatchObject({
      item: { id, version: 2, remixes: 1 },
      versions: [
        { version: 2, via: 'html' },
        { version: 1, via: 'html' },
      ],
      remixes: [{ id: copy, title: 'Ship', remixOf: { id, title: 'Boat', maker: '@ann' } }],
      lineage: [],
      rating: { stars: null, count: 0 },
    })
  })

  test('that is off Explore is not_found', async () => {
    const hidden = await ann.publish()
    const deleted = await share(ann, 'Gone')
    await ann.call('DELETE', `/apps/${deleted}`)
    const none = await t.call('GET', `/explore/${nobody}`)
    for (const id of [hidden, deleted, 'x', 'A%00', "1'or'1'='1"]) {
      for (const path of [`/explore/${id}`, `/explore/${id}/source`]) {
        const { body } = await expectError(t, 404, 'not_found', () => ann.call('GET', path))
        expect(body).toEqual(none.body)
      }
    }
  })

  test('that was taken down is 410 everywhere at once', async () => {
    const id = await share(ann, 'Boat')
    await takeDown(t.ctx, id, 'spam', 'operator')
    for (const path of [`/explore/${id}`, `/explore/${id}/source`]) {
      const { body } = await expectError(t, 410, 'taken_down', () => t.call('GET', path))
      expect(body).toMatchObject({ reason: 'spam' })
    }
    await expectError(t, 404, 'not_found', () => t.call('GET', '/explore/@ann'))
    expect(await titles('')).toEqual([])
    const { body } = await t.call('GET', '/explore/feed.json')
    expect(body).toContain('"items":[]')
    expect((await t.request('GET', '/sitemap.xml')).body).not.toContain(id)
  })
})

test('a maker has a page when it has a listed app', async () => {
  const path = '/explore/@ann'
  await expectError(t, 404, 'not_found', () => t.call('GET', path))
  await ann.call('PATCH', '/me', { about: 'Boats' })
  await share(ann, 'One', { kind: 'game' })
  await share(ann, 'Two')
  await share(ben, 'Other')
  const { body } = await t.call('GET', path)
  const maker = {
    handle: 'ann',
    about: 'Boats',
    page: expect.stringContaining('@ann'),
  }
  expect(body).toMatchObject({ maker, items: [{ title: 'Two' }, { title: 'One' }], next: null })
  expect((await titlesAt(`${path}?kind=game`)).titles).toEqual(['One'])
  const { next } = await titlesAt(`${path}?limit=1`)
  expect(await titlesAt(`${path}?limit=1&cursor=${next}`)).toEqual({ titles: ['One'], next: null })
  for (const odd of ['@', '@nobody-here', '@%00', '@a%20b', '@%ff']) {
    await expectError(t, 404, 'not_found', () => t.call('GET', `/explore/${odd}`))
  }
})

test('lists the shelves with their glyphs', async () => {
  const { body } = await t.call('GET', '/explore/shelves')
  const names = 'arcade puzzle adventure sim tools learn art music data writing social other'
  expect(body).toEqual({
    shelves: names.split(' ').map((name) => ({ name, glyph: expect.stringMatching(/./u) })),
  })
})
