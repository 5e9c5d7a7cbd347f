import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { touchPhone } from '../../testing/browsers/targets.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const title = 'One More Sunrise'

/** A game whose square moves. It counts what it draws, and what the recorder draws. */
const game = `<!doctype html><title>${title}</title>
<style>html,body{margin:0;height:100%;background:#102030}canvas{width:100%;height:100%}</style>
<canvas width=640 height=400></canvas>
<script>
let drawn = 0
let copies = 0
const { drawImage } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  copies += 1
  return drawImage.apply(this, given)
}
const context = document.querySelector('canvas').getContext('2d')
const draw = () => {
  drawn += 1
  context.clearRect(0, 0, 640, 400)
  context.fillStyle = '#ff0000'
  context.fillRect((drawn * 7) % 600, 100, 120, 200)
  requestAnimationFrame(draw)
}
draw()
</script>`

/** A game in WebGL, whose picture is gone after each frame. */
const cleared = `<!doctype html><title>${title}</title>
<style>body{margin:0}canvas{width:100vw;height:100vh}</style><canvas></canvas>
<script>
const context = document.querySelector('canvas').getContext('webgl')
let drawn = 0
const draw = () => {
  requestAnimationFrame(draw)
  drawn += 1
  if (!context) return
  context.clearColor(0, 1, (drawn % 2) * 0.5, 1)
  context.clear(context.COLOR_BUFFER_BIT)
}
draw()
</script>`

/** A page that works without a canvas, and counts those that anyone creates. */
const without = `<!doctype html><title>${title}</title><p>story</p><output>0</output>
<script>
let made = 0
const { createElement } = Document.prototype
Document.prototype.createElement = function (...given) {
  if (given[0] === 'canvas') made += 1
  return createElement.apply(this, given)
}
let ticks = 0
setInterval(() => { document.querySelector('output').textContent = ++ticks }, 5)
</script>`

/** A page that takes the place of the recorder and sends its own replies, each with one press. */
const hostile = `<!doctype html><title>${title}</title><p>story</p>
<script>
const pixels = (width, height) => {
  const made = new ImageData(width, height)
  made.data.fill(255)
  return made
}
const markup = '<img src=x onerror="top.hit = 1">'
const replies = [
  undefined,
  markup,
  { sheet: markup, times: markup, still: markup, background: markup },
  { sheet: { width: 60, height: 70, data: [] }, times: [1], still: pixels(9, 9) },
  { sheet: pixels(61, 70), times: [1], still: pixels(9, 9) },
  { sheet: pixels(6, 7000), times: [1], still: pixels(9, 9) },
  { sheet: pixels(60, 70), times: [1], still: pixels(3000, 9) },
  { sheet: pixels(60, 70), times: [1], background: 'url(https://leak.invalid)', still: pixels(9, 9) },
]
const RealFunction = Function
window.Function = function () {
  return ({ port }) => {
    port.onmessage = () => port.postMessage({ type: 'taken', recorded: replies.shift() })
    port.postMessage({ type: 'ready' })
    // Nobody asked for these.
    port.postMessage({ type: 'taken', recorded: replies.at(-1) })
    port.postMessage({ type: 'pressed' })
  }
}
</script>`

/** Decodes a GIF with the browser: the number of its frames, whether it repeats, and one pixel. */
const decode = (base64: string): string => `(async () => {
  const data = Uint8Array.fromBase64('${base64}')
  const decoder = new ImageDecoder({ data, type: 'image/gif' })
  await decoder.tracks.ready
  await decoder.completed
  const { frameCount, repetitionCount } = decoder.tracks.selectedTrack
  const { image } = await decoder.decode({ frameIndex: frameCount - 1 })
  const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight)
  const context = canvas.getContext('2d')
  context.drawImage(image, 0, 0)
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data
  const colors = new Set()
  for (let at = 0; at < pixels.length; at += 4) colors.add(pixels.slice(at, at + 3).join())
  return { frames: frameCount, repeats: repetitionCount === Infinity,
    size: [canvas.width, canvas.height], colors: [...colors] }
})()`

/** Returns whether a picture of a page has loaded and has the red of the game. */
const showsRed = (path: string): string => `(() => {
  const image = [...document.images].find(({ src }) => src.includes('${path}'))
  if (!image?.naturalWidth) return false
  const { naturalWidth: width, naturalHeight: height } = image
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
  context.drawImage(image, 0, 0)
  const { data } = context.getImageData(0, 0, width, height)
  return data.some((red, at) => at % 4 === 0 && red > 200 && data[at + 1] < 60)
})()`

interface Decoded {
  frames: number
  repeats: boolean
  size: [number, number]
  colors: string[]
}

describe.skipIf(findBrowser('chromium') === undefined)('moments in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  const publish = async (html: string): Promise<string> =>
    (await t.agent('ann')).publish({ title, html, store: true })

  async function open(id: string, context?: BrowserContext): Promise<Page> {
    const page = await (context ?? browser).newPage()
    await page.goto(`${origin}/a/${id}`)
    return page
  }

  const button = (page: Page) => page.getByRole('button', { name: /^Moment/ })
  /** Waits for the first picture: the button is there from then on. */
  const recorded = (page: Page): Promise<unknown> =>
    until(() => page.evaluate<boolean>("!document.getElementById('moment').hidden"))

  /** Presses the button, at the edge where the bar of a running game comes back. */
  async function press(page: Page): Promise<void> {
    await recorded(page)
    await page.mouse.move(640, 400)
    await page.mouse.move(640, 3)
    await button(page).click()
  }

  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Moment' })
  const appOf = (page: Page) => page.frameLocator('iframe').locator('body')

  /** Saves the moment that is shown, and returns its bytes as base64. */
  async function save(page: Page): Promise<string> {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog(page).getByRole('button', { name: 'Save' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${title}.gif`)
    return Buffer.from(await Bun.file(await download.path()).bytes()).toString('base64')
  }

  /** Decodes a GIF in a page without the policy of a shell. */
  async function decoded(base64: string): Promise<Decoded> {
    const page = await browser.newPage()
    await page.goto(`${origin}/explore`)
    const found = await page.evaluate<Decoded>(decode(base64))
    await page.close()
    return found
  }

  const run = (page: Page, expression: string): Promise<unknown> =>
    appOf(page).evaluate<unknown, unknown>(expression)

  test(
    'one press makes a looping picture of the game, with its title and link below',
    async () => {
      const page = await open(await publish(game))
      await until(async () => Number(await run(page, 'copies')) > 12)
      await press(page)
      const gif = await save(page)
      expect(Buffer.from(gif, 'base64').subarray(0, 6).toString()).toBe('GIF89a')
      const { frames, repeats, size, colors } = await decoded(gif)
      expect(frames).toBeGreaterThan(9)
      expect(frames).toBeLessThanOrEqual(42)
      expect(repeats).toBe(true)
      const [width, height] = size
      expect(width * (height - 52)).toBeLessThanOrEqual(90_000)
      // The square, what is below the canvas, and the caption.
      expect(colors).toEqual(expect.arrayContaining(['255,0,0', '16,32,48', '23,25,27']))
      await dialog(page).getByRole('button', { name: 'Close' }).click()
      await page.close()
    },
    ms,
  )

  test(
    'the link of the app can be copied beside the picture',
    async () => {
      const id = await publish(game)
      const page = await open(id)
      await press(page)
      await page.evaluate(
        "document.addEventListener('copy', ({ target }) => { window.copied = target.value })",
      )
      await dialog(page).getByRole('button', { name: 'Copy link' }).click()
      await dialog(page).getByRole('button', { name: 'Copied' }).waitFor()
      expect(await page.evaluate<string>('window.copied')).toEndWith(`/a/${id}`)
      await page.close()
    },
    ms,
  )

  test(
    'a game in WebGL is recorded after it has drawn',
    async () => {
      const page = await open(await publish(cleared))
      if ((await run(page, 'context === null')) === true) return page.close()
      await until(async () => Number(await run(page, 'drawn')) > 60)
      await press(page)
      const { frames, colors } = await decoded(await save(page))
      expect(frames).toBeGreaterThan(5)
      expect(colors.some((color) => /^0,255,/.test(color))).toBe(true)
      await page.close()
    },
    ms,
  )

  test(
    'the key makes one from inside the game, and Escape returns to it',
    async () => {
      const page = await open(await publish(game))
      await recorded(page)
      await appOf(page).click()
      await page.keyboard.press('F2')
      await dialog(page).waitFor()
      await dialog(page).getByRole('button', { name: 'Save' }).waitFor()
      await page.keyboard.press('Escape')
      await dialog(page).waitFor({ state: 'detached' })
      expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('IFRAME')
      await page.close()
    },
    ms,
  )

  test(
    'its dialog passes axe-core, fits a small phone, and what one presses has 44 pixels there',
    async () => {
      const context = await browser.newContext(touchPhone)
      const page = await open(await publish(game), context)
      await recorded(page)
      await page.locator('#moment').dispatchEvent('click')
      await until(() => dialog(page).getByRole('button', { name: 'Save' }).isEnabled())
      const heights = await page.evaluate<number[]>(
        "[...document.querySelectorAll('#board button:not([hidden])')].map((one) => one.offsetHeight)",
      )
      expect(heights).toHaveLength(3)
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
      expect(await findViolations(page, '#board')).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'a page without a canvas has no button, and nothing is recorded of it',
    async () => {
      const page = await open(await publish(without))
      await until(async () => Number(await run(page, 'ticks')) > 300)
      expect(await button(page).count()).toBe(0)
      expect(await run(page, 'made')).toBe(0)
      await page.keyboard.press('F2')
      expect(await dialog(page).count()).toBe(0)
      await page.close()
    },
    ms,
  )

  test(
    'the recorder draws at most ten pictures a second, and none of a game at rest',
    async () => {
      // The game's clock moves by frames alone, 16 ms each, and stops with them.
      const timed = game
        .replace('let drawn = 0', 'let drawn = 0\nperformance.now = () => drawn * 16')
        .replace('requestAnimationFrame(draw)', 'if (drawn < 250) requestAnimationFrame(draw)')
      const page = await open(await publish(timed))
      await until(async () => (await run(page, 'drawn')) === 250)
      const copies = Number(await run(page, 'copies'))
      expect(copies).toBeGreaterThan(8)
      expect(copies).toBeLessThanOrEqual(41)
      // Frames of this test, of which the game knows nothing.
      const wait = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'
      for (let n = 0; n < 10; n += 1) await page.evaluate(wait)
      expect(Number(await run(page, 'copies')) - copies).toBeLessThanOrEqual(1)
      await page.close()
    },
    ms,
  )

  test(
    'whatever a hostile page sends in place of pictures, the shell shows no part of it',
    async () => {
      const context = await browser.newContext()
      const requests: string[] = []
      context.on('request', (request) => void requests.push(request.url()))
      // What drives this browser counts as a press, which the page has not had.
      await context.addInitScript(
        "Object.defineProperty(navigator, 'userActivation', { value: { isActive: false } })",
      )
      const page = await open(await publish(hostile), context)
      await recorded(page)
      // It sent the key and a reply without a press.
      expect(await run(page, 'replies.length')).toBe(8)
      for (let n = 0; n < 7; n += 1) {
        await page.evaluate<unknown>("document.getElementById('message').textContent = ''")
        await press(page)
        const notice = page.locator('#message', { hasText: 'There is no picture of this app yet.' })
        // It closes by itself.
        await notice.waitFor({ state: 'attached' })
      }
      await press(page)
      const { frames, size } = await decoded(await save(page))
      expect({ frames, size }).toEqual({ frames: 1, size: [240, 62] })
      expect(await page.evaluate<unknown>('globalThis.hit')).toBeUndefined()
      expect(
        requests.filter((url) => !url.startsWith(origin) && !/^(?:blob|about):/.test(url)),
      ).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'the maker sets it as the cover at one window, and a player sees that at another',
    async () => {
      const ann = await t.agent('ann')
      const id = await publish(game)
      const olga = await createTestPerson(t, 'olga')
      const code = (await ann.call('POST', '/me/claim')).text('claim.code')
      await olga.call('POST', '/claim', { code })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await createTestSession(t, olga)).cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const [own, other] = [await open(id, context), await open(id)]
      for (const page of [own, other]) await press(page)
      const cover = (page: Page) => dialog(page).getByRole('button', { name: 'Set as cover' })
      await cover(own).click()
      await own.getByText('The cover is set to the newest picture.').waitFor()
      await dialog(other).getByRole('button', { name: 'Save' }).waitFor()
      expect(await cover(other).count()).toBe(0)
      await other.goto(`${origin}/explore/${id}`)
      await until(() => other.evaluate<boolean>(showsRed(`/covers/${id}`)))
      await context.close()
      await other.close()
    },
    ms,
  )
})
