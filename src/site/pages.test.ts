import { afterAll, expect, test } from 'bun:test'

import * as explore from '../apps/explore/explore.ts'
import { makeCursor } from '../kernel/cursor.ts'
import { conversationCharsMax, fileBytesMax, pdfsPerRequestMax } from '../kernel/limits.ts'
import { hour } from '../kernel/time.ts'
import { closeWithoutErrors } from '../testing/fixtures/closed-servers.ts'
import { signUp } from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const ben = await t.agent('ben')
const about = { title: 'Harbour Lights', description: 'Bring boats home.', kind: 'game' }
const id = await ann.publish({ ...about, shelf: 'arcade', store: true })
afterAll(() => closeWithoutErrors(t))

const browser = { accept: 'text/html' }
const page = async (path: string, status = 200): Promise<string> => {
  const response = await t.request('GET', path, { headers: browser })
  expect([path, response.status]).toEqual([path, status])
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  return String(response.body)
}

test('shows the agent prompt and two runnable curl commands on the home page', async () => {
  const home = shownPage(await page('/'))
  expect(home.text).toContain('Read http://localhost:3000/skill.md, then make me a small game')
  expect(home.text).toContain('KEY=$(curl -sX POST http://localhost:3000/api/keys')
  expect(home.text).toContain('Bearer $KEY"')
  expect(home.hrefs).toContain(`/explore/${id}`)
})

test('filters Explore by text, kind, shelf and price without JavaScript', async () => {
  for (const query of ['', '?q=boats', '?kind=game', '?shelf=arcade', '?price=free&sort=top']) {
    expect(await page(`/explore${query}`)).toContain('Harbour Lights')
  }
  for (const query of ['?q=zeppelin', '?kind=app', '?shelf=art', '?price=paid']) {
    expect(shownPage(await page(`/explore${query}`)).text).toMatch(/No results for|No apps match/)
  }
  const chosen = await page('/explore?q=boats&kind=game&shelf=arcade')
  const filters = shownPage(chosen)
  expect(filters.byRole('link', 'arcade').attribute('aria-current')).toBe('true')
  expect(filters.byRole('link', 'Games').attribute('aria-current')).toBe('true')
  // Empty and unknown values are ignored.
  expect(await page('/explore?q=&kind=&sort=odd&shelf=nowhere')).toContain('Harbour Lights')
  const odd = [`${'x'.repeat(199)}🎮`, 'x'.repeat(4_000), '%', "' or 1=1", '*'].map(
    encodeURIComponent,
  )
  for (const q of [...odd, '%ff', '%00']) {
    expect(await page(`/explore?q=${q}`)).toContain('No results for')
    expect(shownPage(await page(`/catalogue?q=${q}`)).names('heading')).toContain('Models')
  }
  expect(await page('/explore?cursor=odd', 400)).toContain('This part of the list no longer exists')
})

test('continues a list after its cursor', async () => {
  const cleo = await t.agent('cleo')
  for (let made = 0; made < 25; made += 1) {
    t.clock.advance(1_000)
    await cleo.publish({ title: `B${made}.`, store: true })
  }
  for (const path of ['/explore?sort=new', '/explore?q=b', '/explore/@cleo']) {
    const first = shownPage(await page(path))
    expect(first.text).not.toContain('B0.')
    // "Show more" keeps the tiles before and opens the list at the first new one.
    const next = first.byRole('link', 'Show more').attribute('href') ?? ''
    expect(next).toEndWith('shown=48#tile-25')
    const second = shownPage(await page(next))
    // The boats of a maker have a name, too: that of the app by its maker.
    const tiles = second.allByRole('listitem').filter(({ text }) => /\bB\d+\.(?! by)/.test(text))
    const [linked] = tiles.filter((tile) => tile.attribute('id') === 'tile-25')
    expect(tiles.indexOf(linked ?? second)).toBe(24)
    expect(second.text).toContain('B0.')
    expect(second.text).toContain('B24.')
    expect(second.names('link')).not.toContain('First page')
  }
  for (const shown of ['-1', 'x', '1e9', '0', '25']) await page(`/explore?shown=${shown}`)
  // A list that is too long for one page continues on another one.
  const { next } = await explore.listTiles(t.ctx, { limit: 24 })
  const after = await page(`/explore?cursor=${encodeURIComponent(next ?? '')}`)
  expect(after).toContain('First page')
  expect(after).not.toContain('B24.')
})

test('shows the details, remix price, lineage and feedback of an item', async () => {
  await ann.call('PATCH', `/apps/${id}`, { remix: 'price', priceRemix: 40 })
  const made = await ben.call('POST', `/apps/${id}/remix`, {})
  const copy = made.text('app.id')
  await ben.call('PATCH', `/apps/${copy}`, { title: 'In winter', store: true })
  const put = await ben.call('PUT', `/explore/${id}/review`, { stars: 4, text: 'Calm <i>' })
  await ann.call('POST', `/reviews/${put.text('review.id')}/answer`, { text: 'Thanks <u>' })
  await ben.call('POST', `/explore/${id}/comments`, { text: 'How far <s>' })

  const item = shownPage(await page(`/explore/${id}`))
  expect(item.hrefs).toContain(`/a/${id}`)
  expect(item.text).toContain('40 credits; the maker receives 80%.')
  expect(item.allByRole('img', '4.0 of 5 stars, 1 rating')).not.toEqual([])
  for (const text of ['Calm <i>', 'Thanks <u>', 'How far <s>', 'In winter']) {
    expect(item.text).toContain(text)
  }
  expect(shownPage(await page(`/explore/${copy}`)).text).toContain('Remix of Harbour Lights')
  // One remix stands in the section of the family, without a row of its own.
  expect(item.names('heading')).toContain('Family tree')
  expect(item.names('heading')).not.toContain('Remixes')

  await ben.call('PATCH', `/apps/${copy}`, { store: false })
  expect(await page(`/explore/${copy}`, 404)).toContain('This item on Explore was not found.')
})

test('shows an item once on the home page and on Explore, and few items in one row', async () => {
  const h = await startTestServer()
  const [dot, eve] = [await h.agent('dot'), await h.agent('eve')]
  const publish = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      h.clock.advance(1_000)
      const item = await dot.publish({ title: `Boat ${at} of ${count}`, store: true })
      await h.request('GET', `/a/${item}`, { key: eve.key, from: eve.from })
      await eve.call('PUT', `/explore/${item}/review`, { stars: 5 })
    }
  }
  const headers = { accept: 'text/html' }
  const read = async (path: string) => shownPage((await h.request('GET', path, { headers })).body)
  const rowsOf = async (path: string) => {
    const shown = await read(path)
    const titles = shown.allByRole('heading').filter(({ level }) => level === 3)
    const boats = titles.map(({ text }) => text).filter((text) => text.startsWith('Boat'))
    expect([path, new Set(boats).size]).toEqual([path, boats.length])
    return shown.names('heading').filter((name) => /^(New|Trending|Best|Most|Top)/.test(name))
  }
  await publish(5)
  expect([await rowsOf('/'), await rowsOf('/explore')]).toEqual([['New'], ['New']])
  await publish(12)
  h.clock.advance(60_000)
  for (const path of ['/', '/explore']) {
    const rows = await rowsOf(path)
    expect(rows).toContain('New')
    expect(rows).toContain('Best rated')
  }
  await h.close()
})

test('pages the comments and the reviews of an item separately', async () => {
  const isle = await ann.publish({ title: 'Isle', store: true })
  for (let count = 0; count < 21; count += 1) {
    t.clock.advance(hour / 4)
    const dot = await t.agent(`dot${count}`)
    await t.request('GET', `/a/${isle}`, { key: dot.key, from: dot.from })
    await dot.call('PUT', `/explore/${isle}/review`, { stars: 5, text: `Review ${count}.` })
    await dot.call('POST', `/explore/${isle}/comments`, { text: `Comment ${count}.` })
  }
  const first = shownPage(await page(`/explore/${isle}`))
  for (const [name, word] of [
    ['reviews', 'Review'],
    ['comments', 'Comment'],
  ]) {
    expect(first.text).toContain(`${word} 20.`)
    expect(first.text).not.toContain(`${word} 0.`)
    const pages = first.byRole('navigation', `Pages of ${name}`)
    const next = pages.byRole('link', 'Show more').attribute('href') ?? ''
    expect(next).toEndWith(`#${name}`)
    const second = shownPage(await page(next.replace(/#.*/, '')))
    expect(second.text).toContain(`${word} 0.`)
    expect(second.text).not.toContain(`${word} 20.`)
    const back = second.byRole('link', 'First page').attribute('href')
    expect(back).toBe(`/explore/${isle}#${name}`)
    await page(`/explore/${isle}?${name}=odd`, 400)
  }
})

test('lists every model with its price, filtered by type and text', async () => {
  const all = await page('/catalogue')
  expect(all).toContain('demo/chat')
  expect(shownPage(all).text).toContain('$0.10 / 1M tokens')
  const images = await page('/catalogue?type=image')
  expect(images).toContain('demo/image')
  expect(images).not.toContain('demo/chat')
  expect(await page('/catalogue?q=speech')).not.toContain('demo/chat')
  expect(await page('/catalogue?q=none&type=odd&page=-3')).toContain('No results for')
})

test('shows the guides and every error code of both APIs in the docs', async () => {
  const start = shownPage(await page('/docs'))
  const guides = ['publish', 'openai', 'mcp', 'build', 'remix', 'webhooks']
  for (const guide of guides) {
    expect(start.hrefs).toContain(`/docs/${guide}`)
    // A script adds a Copy button to each of these.
    expect(await page(`/docs/${guide}`)).toContain('<copy-line')
  }
  const docs = shownPage(await page('/docs/errors'))
  for (const code of ['no_key', 'blocked_by_scan', 'model_not_found', 'insufficient_quota']) {
    expect(docs.allByText(code)).not.toEqual([])
  }
  // The examples show the real limits.
  expect(docs.text).toContain(`more than ${conversationCharsMax} characters`)
  expect(docs.text).toContain(`at most ${pdfsPerRequestMax} PDF files`)
  expect(docs.text).toContain(`The file has more than ${fileBytesMax} bytes`)
  const own = [...start.hrefs, ...docs.hrefs].map(
    (href) => new URL(href, 'http://localhost:3000/docs'),
  )
  // A link to a language leads back to the page.
  const paths = own
    .filter(({ host, pathname }) => host === 'localhost:3000' && !/^\/language\//.test(pathname))
    .map(({ pathname }) => pathname)
  for (const path of new Set(paths)) {
    expect([path, (await t.request('GET', path, { headers: browser })).status]).toEqual([
      path,
      /^\/(account|agents|wallet)/.test(path) ? 303 : 200,
    ])
  }
})

test('error pages and the report form have the header of a signed-in person', async () => {
  const bea = await signUp(t, 'bea-reader')
  const report = `/report/${id}`
  for (const [path, status] of [
    ['/nowhere', 404],
    ['/explore?cursor=odd', 400],
    ['/console', 404],
    ['/studio/AAAAAAAAAAAA', 404],
    [report, 200],
    [`${report}?sent=1`, 200],
  ] as const) {
    const shown = await bea.open(path)
    const cache = shown.headers.get('cache-control')
    expect([path, shown.status, cache]).toEqual([path, status, 'no-store'])
    expect(shownPage(shown.body).text).toContain('Menu of bea-reader')
  }
  expect(shownPage(await page('/nowhere', 404)).names('link')).toContain('Sign in')
})

test('every link in the header of a signed-in person opens a page', async () => {
  const cleo = await signUp(t, 'cleo-reader')
  const links = (await cleo.show('/docs')).byRole('banner').hrefs
  expect(links).toContain('/studio')
  for (const link of links) {
    const [path = ''] = link.split('#')
    expect([link, (await cleo.open(path)).status]).toEqual([link, 200])
  }
})

test('fills in the newest app of the reader for the examples', async () => {
  // A script replaces this element with the values.
  expect(await page('/docs/publish')).toContain('<docs-values>')
  expect((await t.request('GET', '/docs/mine', { headers: browser })).status).toBe(303)
  const olga = await signUp(t, 'olga-reader')
  const { body } = await olga.open('/docs/mine')
  expect(body).toEqual({ app: null })
})

test('describes an app link in its page and as oEmbed', async () => {
  const link = `http://localhost:3000/a/${id}`
  const shell = await page(`/a/${id}`)
  expect(shell).toContain('<meta property=og:title content="Harbour Lights">')
  const [, found = ''] = /application\/json\+oembed href="([^"]+)"/.exec(shell) ?? []
  const embed = await t.request('GET', found.slice('http://localhost:3000'.length))
  expect(embed.body).toMatchObject({
    version: '1.0',
    type: 'rich',
    title: 'Harbour Lights',
    author_name: '@ann',
    provider_url: 'http://localhost:3000',
  })
  const ask = (query: Record<string, string>) =>
    t.request('GET', `/oembed?${new URLSearchParams(query)}`)
  expect((await ask({ url: link, format: 'xml' })).status).toBe(501)
  for (const url of ['', 'http://elsewhere/a/AAAAAAAAAAAA', `${link}x`, `${link.slice(0, -1)}_`]) {
    expect((await ask({ url })).status).toBe(404)
  }
})

test('keeps the home page and Explore below 44 KB without images and the typeface', async () => {
  for (const path of [
    '/',
    '/explore',
    '/explore?q=b',
    '/explore/@cleo',
    `/explore/${id}`,
    '/docs',
  ]) {
    const headers = { ...browser, 'accept-encoding': 'gzip, deflate, br' }
    // Only an installed site loads its icon; the typeface has 29 KB and is loaded once.
    const loaded = [...(await page(path)).matchAll(/"(\/static\/[^"]+)"/g)]
      .map(([, at = '']) => at)
      .filter((at) => !/\.(?:png|woff2)/.test(at))
    const all = await Promise.all([path, ...loaded].map((at) => t.request('GET', at, { headers })))
    for (const file of all.slice(1)) expect(file.headers.get('content-encoding')).toBe('br')
    expect(all.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(44_000)
  }
})

test('serves immutable static files and loads nothing else', async () => {
  const home = await page('/explore')
  const loaded = [...home.matchAll(/(?:src|href)="(\/static\/[^"]+)"/g)].map(([, path]) => path)
  expect(loaded).toHaveLength(5)
  for (const path of loaded) {
    const file = await t.request('GET', path ?? '')
    expect(file.status).toBe(200)
    expect(file.headers.get('cache-control')).toContain('immutable')
  }
  expect((await t.request('GET', '/static/constructor')).status).toBe(404)
  expect(home).not.toMatch(/ (style|on[a-z]+)=/)
  const { headers } = await t.request('GET', '/', { headers: browser })
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
})

test('states the limit of sorted searches and keeps the filters', async () => {
  for (let at = 0; at < 25; at += 1) await ann.publish({ title: `Sail ${at}`, store: true })
  const cut = 'This order covers the 500 newest matches.'
  const top = shownPage(await page('/explore?q=sail&sort=top'))
  expect(top.text).toContain(cut)
  expect(top.byRole('link', 'Show more').attribute('href')).toBe(
    '/explore?q=sail&sort=top&shown=48#tile-25',
  )
  for (const whole of ['?q=sail', '?q=harbour&sort=top', '?sort=top']) {
    expect(await page(`/explore${whole}`)).not.toContain(cut)
  }
  const made = await ben.call('POST', '/apps', { html: '<h1>Quay</h1>', title: 'Quay' })
  const quay = made.text('app.id')
  await ben.call('PATCH', `/apps/${quay}`, { store: true })
  for (let at = 0; at < 21; at += 1) {
    await ann.call('POST', `/explore/${quay}/comments`, { text: `Number ${at}` })
  }
  const reviews = makeCursor(t.clock.now() + hour, 'A'.repeat(12))
  const { hrefs } = shownPage(await page(`/explore/${quay}?reviews=${reviews}`))
  const next = `/explore/${quay}?reviews=${reviews}&comments=`
  expect(hrefs.filter((href) => href.startsWith(next) && href.endsWith('#comments'))).toHaveLength(
    1,
  )
})

test('shows rows of items on Explore, and one list once it is sorted', async () => {
  expect(shownPage(await page('/explore')).names('heading')).toContain('New')
  expect(shownPage(await page('/explore?sort=played')).names('heading')).not.toContain('New')
  // A script replaces this element with a button that plays the app in the page.
  expect(await page('/')).toContain('<play-here')
})
