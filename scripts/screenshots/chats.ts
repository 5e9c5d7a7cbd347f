/**
 * `bun scripts/screenshots/chats.ts [host]`: writes docs/images/chats-<host>.webp, with ten apps in
 * the chat of each host, or of one.
 */
import { join } from 'node:path'

import type { Browser, Page } from 'playwright-core'

import { openBrowserSession } from '../../src/testing/browsers/session.ts'
import { allApps, type ChatApp, idOf } from '../../src/testing/chats/apps.ts'
import { type HostName, hostNames, serveHosts } from '../../src/testing/chats/host-pages.ts'
import { startTestServer, type TestServer } from '../../src/testing/fixtures/test-server.ts'

const folder = join(import.meta.dir, '../../docs/images')
const size = { width: 560, height: 400 }
const columns = 2
const quality = 70

/** Moments that come before the end of a play. */
const scenes: Record<string, ChatApp['play']> = {
  folder: ({ app }) => app.getByText('3 ships').waitFor(),
  async model({ app, view }) {
    await app.getByRole('button', { name: 'Ask' }).click()
    await view.getByRole('alertdialog').waitFor()
  },
}

let server: TestServer | undefined
const session = await openBrowserSession(() => server ?? fail())
const hosts = serveHosts()
server = await startTestServer({ APP_URL: session.origin })
const agent = await server.agent('ann')
try {
  for (const host of hostNames.filter((one) => one === (Bun.argv[2] ?? one))) {
    const images: string[] = []
    for (const app of allApps) images.push(await take(session.browser, host, app))
    await combine(session.browser, host, images)
  }
} finally {
  await session.close()
  await hosts.stop()
  await server.close()
}

function fail(): never {
  throw new Error('not ready')
}

/** Opens an app in a chat, plays it, and returns the picture of its view. */
async function take(browser: Browser, name: HostName, app: ChatApp): Promise<string> {
  const context = await browser.newContext({ colorScheme: null, viewport: size })
  const page = await context.newPage()
  await page.goto(hosts.urlOf(name))
  const id = idOf((await agent.call('POST', '/apps', app.body)).body)
  const host = { url: `${session.origin}/mcp`, sandbox: hosts.sandbox, key: agent.key }
  const given = { ...host, name: 'play_app', args: { id } }
  await page.evaluate(`self.host.call(${JSON.stringify(given)})`)
  const view = page.frameLocator('iframe').frameLocator('iframe')
  const frames = { view, app: view.frameLocator('main iframe').frameLocator('iframe') }
  await (scenes[app.name] ?? app.play)(frames)
  const image = await fitted(page)
  await context.close()
  return `data:image/png;base64,${image.toString('base64')}`
}

/** Shows the view alone, as wide and high as its part of the picture. */
async function fitted(page: Page): Promise<Buffer> {
  await page.addStyleTag({
    content: `body{margin:0}div{width:${size.width}px!important}iframe{width:${size.width}px!important;height:${size.height}px!important;border:0!important}`,
  })
  // A press may have scrolled the wider page.
  await page.evaluate('scrollTo(0, 0)')
  await page.waitForTimeout(1_000)
  return page.screenshot()
}

async function combine(browser: Browser, name: HostName, images: string[]): Promise<void> {
  const rows = Math.ceil(images.length / columns)
  const page = await browser.newPage({ viewport: { width: 920, height: 12 + rows * 328 } })
  const all = images.map((image) => `<img src="${image}">`).join('')
  await page.setContent(
    `<style>body{margin:12px;display:grid;grid-template-columns:repeat(${columns},1fr);gap:12px;background:#d8dadd}img{width:100%;border-radius:10px}</style>${all}`,
  )
  await page.locator('img').last().waitFor()
  const webp = await new Bun.Image(await page.screenshot()).webp({ quality }).bytes()
  await Bun.write(join(folder, `chats-${name}.webp`), webp)
  await page.close()
}
