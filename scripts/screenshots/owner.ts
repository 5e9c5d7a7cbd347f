/** A person who owns an agent, and an app with everything that a studio shows. */
import type { Browser, BrowserContext } from 'playwright-core'

import { asRecord, type BerthServer } from '../bench/load/served.ts'

/** The cookies of a session. */
export type SessionState = Awaited<ReturnType<BrowserContext['storageState']>>

/** Creates an account in a browser and returns its session. */
export async function signUp(
  browser: Browser,
  origin: string,
  { name = 'olga', path = '/sign-up' } = {},
): Promise<SessionState> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(origin + path)
  await page.fill('input[name=name]', name)
  await page.fill('input[name=password]', 'correct horse battery')
  await page.click('main button')
  await page.waitForSelector('.codes')
  const state = await context.storageState()
  await context.close()
  return state
}

const tiles = Array.from({ length: 24 }, (_, at) => `    <i style="left:${at * 4}vw"></i>`)

/** Returns the page of a version, which differs by the speed of its fog. */
const createPage = (speed: number, more = ''): string => `<!doctype html>
<html lang="en">
  <head>
    <title>Fog Bell</title>
    <style>
      body { margin: 0; background: #123; color: #eee; font: 16px/1.5 system-ui }
      i { position: absolute; bottom: 0; width: 3vw; height: 30vh; background: #2a6f77 }
    </style>
    <script type="application/json" data-assets>
      [{ "name": "bell.ogg", "kind": "sound", "what": "A bell under water, once" }]
    </script>
  </head>
  <body>
    <h1>Fog Bell</h1>
${tiles.join('\n')}
    <script>
      const speed = ${speed}
      addEventListener('pointerdown', () => ring(speed))
      function ring(fast) { document.title = 'Ding ' + fast }
    </script>
${more}  </body>
</html>
`

/** A script that the sandbox blocks, for the findings of the safety check. */
export const blockedScript = 'https://cdn.example.com/confetti.js'
const external = `    <script src="${blockedScript}"></script>\n`

/** Creates an agent with two apps and claims it. Returns the items for the pages. */
export async function fillStudio(browser: Browser, ctx: BerthServer, storageState: SessionState) {
  const handle = 'tide-bell'
  const made = await ctx.call('POST', '/keys', { handle, about: 'Rings when the fog is in.' })
  const key = String(made['key'])
  const publish = async (body: object, by = key): Promise<string> =>
    String(asRecord((await ctx.call('POST', '/apps', body, by))['app'])['id'])
  const about = {
    title: 'Fog Bell',
    description: 'Tap, and it rings.',
    shelf: 'music',
    store: true,
  }
  const id = await publish({ ...about, html: createPage(1) })
  const bare = await publish({ title: 'Slack Water', html: '<!doctype html><p>Still' })
  const asset = (name: string, kind: string, what: string): object => ({ name, kind, what })
  const assets = [
    asset('buoy.png', 'sprite', 'A red buoy'),
    asset('harbour.png', 'picture', 'A harbour at dusk'),
    asset('wave.mp3', 'sound', 'A small wave'),
  ]
  await ctx.call('POST', `/apps/${id}/assets`, { assets }, key)
  for (const [at, note] of ['The fog is slower.', 'Slower still, with a bell.', ''].entries()) {
    const html = createPage(2 + at, at === 2 ? external : '')
    await ctx.call('POST', `/apps/${id}/versions`, { html, ...(note && { note }) }, key)
  }
  await fetch(`http://localhost:${ctx.port}/a/${id}/data`)
  const { items } = await ctx.call('GET', '/explore?price=paid')
  const [sold] = Array.isArray(items) ? items : []
  await ctx.call('POST', `/apps/${asRecord(sold)['id']}/remix`, {}, key)
  const path = await createClaim(ctx, key)
  const context = await browser.newContext({ storageState })
  const page = await context.newPage()
  await page.goto(`http://localhost:${ctx.port}${path}`)
  await page.click('main form button')
  await context.close()
  const about2 = 'Small tools for small boats.'
  const other = String(
    (await ctx.call('POST', '/keys', { handle: 'lee-shore', about: about2 }))['key'],
  )
  for (const [title, shelf] of [
    ['Knots', 'learn'],
    ['Anchor Watch', 'tools'],
    ['Chart Doodle', 'art'],
    ['Leeway', 'sim'],
  ]) {
    await publish({ title, shelf, html: createPage(1) }, other)
  }
  return { id, bare, handle, claim: await createClaim(ctx, other), device: await startDevice(ctx) }
}

/** Starts the sign-in of a device. Returns the path of its code. */
async function startDevice({ port }: BerthServer): Promise<string> {
  const body = new URLSearchParams({ client_id: 'berth on laptop' })
  const url = `http://localhost:${port}/api/device/authorization`
  const codes = asRecord(await (await fetch(url, { method: 'POST', body })).json())
  return `/device?code=${String(codes['user_code'])}`
}

export const createClaim = async (ctx: BerthServer, key: string): Promise<string> =>
  new URL(String(asRecord((await ctx.call('POST', '/me/claim', undefined, key))['claim'])['url']))
    .pathname

/** The pages of an owner by the names of their screenshots. */
export const ownerPages = (studio: Awaited<ReturnType<typeof fillStudio>>) => ({
  device: '/device',
  'device-wrong': '/device?code=AAAA-AAAA-AAAA',
  'device-code': studio.device,
  agents: '/agents',
  agent: `/agents/${studio.handle}`,
  ...Object.fromEntries(
    ['apps', 'ledger', 'keys', 'notes', 'settings'].map((list) => [
      `agent-${list}`,
      `/agents/${studio.handle}/${list}`,
    ]),
  ),
  ...Object.fromEntries(
    ['', 'build', 'code', 'versions', 'changes', 'assets', 'listing', 'safety'].map((tab) => [
      `studio-${tab || 'statistics'}`,
      `/studio/${studio.id}/${tab}`.replace(/\/$/, ''),
    ]),
  ),
  'studio-list': '/studio',
  'studio-new': `/studio/${studio.bare}`,
  'make-own': '/new',
  'make-skill': '/new/skill',
  collections: '/collections',
  notifications: '/notifications',
  claim: studio.claim,
  account: '/account',
})
