/** Sample data: thirty apps of six makers with covers, remixes, reviews and opens. */
import { findBrowser } from '../../src/testing/browsers/browser.ts'
import { asRecord, type BerthServer } from '../bench/load/served.ts'
import { items, makers } from './items.ts'

export interface SampleData {
  /** An app that was remixed, the handle of its maker, and the remix. */
  id: string
  handle: string
  remixed: string
}

const text = (value: unknown, name: string): string => String(asRecord(value)[name])

export async function createSampleData(ctx: BerthServer): Promise<SampleData> {
  const keys = new Map<string, string>()
  for (const [handle, about] of Object.entries(makers)) {
    const { key } = await ctx.call('POST', '/keys', { handle, ...(about && { about }) })
    keys.set(handle, String(key))
  }
  const ids: string[] = []
  for (const { maker, ...app } of items) {
    const published = await ctx.call('POST', '/apps', { ...app, store: true }, keys.get(maker))
    const id = text(published.app, 'id')
    ids.push(id)
    for (let opens = (ids.length * 7) % 11; opens > 0; opens -= 1) {
      await openFrom(ctx, id, opens)
    }
  }
  const [first = '', second = ''] = ids
  const price = { remix: 'price', priceRemix: 40 }
  await ctx.call('PATCH', `/apps/${second}`, price, keys.get('brass-otter'))
  const remixed = await remix(ctx, first, keys.get('marlow'), 'Harbour Lights, in winter')
  const again = await remix(ctx, remixed, keys.get('tin-lantern'), 'Fog')
  const html = `${items[0]?.html}<!-- A slower fog. -->`
  const version = { html, note: 'The fog is slower.' }
  await ctx.call('POST', `/apps/${first}/versions`, version, keys.get('brass-otter'))
  for (const [at, [maker, stars, review]] of reviews.entries()) {
    const id = ids[(at * 5) % ids.length] ?? first
    // A maker cannot review its own item.
    if (items[(at * 5) % ids.length]?.maker === maker) continue
    await ctx.call('GET', `/explore/${id}/source`, undefined, keys.get(maker)).catch(() => {})
    const body = { stars, text: review }
    await ctx.call('PUT', `/explore/${id}/review`, body, keys.get(maker)).catch(() => {})
  }
  const comment = { text: 'Does the fog ever lift?' }
  await ctx.call('POST', `/explore/${first}/comments`, comment, keys.get('quiet-loom'))
  await waitForCovers(ctx, ids.length)
  return { id: first, handle: 'brass-otter', remixed: again }
}

/** Opens an app from another address behind a trusted proxy, so that it counts. */
const openFrom = (ctx: BerthServer, id: string, host: number): Promise<unknown> =>
  fetch(`http://127.0.0.1:${ctx.port}/a/${id}/data`, {
    headers: { 'x-forwarded-for': `198.51.100.${host}` },
  }).catch(() => undefined)

const reviews: [maker: string, stars: number, text: string][] = [
  ['marlow', 4, 'Calm, and harder than it looks.'],
  [
    'quiet-loom',
    5,
    'The one app I keep open all day. It does one thing and then gets out of the way, which is more than I can say about the things it replaced.',
  ],
  ['noor-studio', 5, 'جميلة جدًا.'],
  ['pixelgrove', 3, 'Good idea. The keys repeat too fast on my machine.'],
  ['brass-otter', 5, ''],
  ['marlow', 2, 'It lost my place when I turned the phone.'],
  ['noor-studio', 4, 'More colors, please.'],
  ['tin-lantern', 5, 'Yes.'],
  ['quiet-loom', 4, 'Short enough for a tea.'],
  ['brass-otter', 5, 'My daughter asks for it by name.'],
]

const coverChecksMax = 300

/** Waits until every item has its cover; without a browser, for nothing. */
async function waitForCovers(ctx: BerthServer, count: number): Promise<void> {
  if (findBrowser('chromium') === undefined) return
  for (let checks = 0; checks < coverChecksMax; checks += 1) {
    const { items: all } = await ctx.call('GET', '/explore?limit=100')
    const covered = Array.isArray(all) ? all.filter((one) => asRecord(one).cover !== null) : []
    if (covered.length >= count) return
    await Bun.sleep(1_000)
  }
}

async function remix(
  ctx: BerthServer,
  id: string,
  key: string | undefined,
  title: string,
): Promise<string> {
  const { app } = await ctx.call('POST', `/apps/${id}/remix`, {}, key)
  const copy = text(app, 'id')
  await ctx.call('PATCH', `/apps/${copy}`, { title, store: true }, key)
  return copy
}
