/** Moments in each browser: recorded, encoded and shared as a file by what the browser has. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { recordOf } from '../../kernel/schema.ts'
import { openServedBrowser, sharedBrowsers } from '../../testing/browsers/all-browsers.ts'
import { type Browser, findForPages } from '../../testing/browsers/browser.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 180_000
const title = 'One More Sunrise'

/** A game whose square moves. */
const game = `<!doctype html><title>${title}</title>
<style>html,body{margin:0;height:100%}canvas{width:100%;height:100%}</style>
<canvas width=640 height=400></canvas>
<script>
let drawn = 0
const context = document.querySelector('canvas').getContext('2d')
const draw = () => {
  drawn += 1
  context.fillStyle = '#102030'
  context.fillRect(0, 0, 640, 400)
  context.fillStyle = '#ff0000'
  context.fillRect((drawn * 7) % 600, 100, 120, 200)
  requestAnimationFrame(draw)
}
draw()
</script>`

/** Gives a page a share sheet of files, which no browser of tests has, and keeps what it gets. */
const addShareSheet = `(() => {
  const put = (name, value) => Object.defineProperty(navigator, name, { value, configurable: true })
  put('canShare', ({ files }) => files?.length === 1)
  put('share', async ({ files: [file], title, text }) => {
    const picture = await createImageBitmap(file)
    const { width, height } = picture
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')
    context.drawImage(picture, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    const hasRed = data.some((red, at) => at % 4 === 0 && red > 200 && data[at + 1] < 60)
    const bytes = new Uint8Array(await file.arrayBuffer())
    let binary = ''
    for (const byte of bytes) binary += String.fromCharCode(byte)
    self.shared = { title, text, name: file.name, type: file.type, width, hasRed, content: btoa(binary) }
  })
})()`

/** Presses a button of the dialog that can be pressed. Its value says whether there is one. */
const press = (label: string): string => `(() => {
  const button = [...document.querySelectorAll('#board button')]
    .find(({ textContent, disabled }) => textContent === '${label}' && !disabled)
  button?.click()
  return button !== undefined
})()`

/** Returns the bytes of the file that was shared, as text. */
const gifOf = ({ content }: Record<string, unknown>): string =>
  Buffer.from(String(content), 'base64').toString('latin1')

/** Counts the pictures of a GIF: a graphic control extension before each (GIF89a, section 23). */
const countFrames = (gif: string): number =>
  [...gif.matchAll(/\x21\xf9\x04[\s\S]{4}\x00\x2c/g)].length

for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`moments in ${name}`, () => {
    let t: TestServer
    let browser: Browser
    let origin = ''
    let close: () => Promise<void>

    beforeAll(async () => {
      ;({ t, browser, origin, close } = await openServedBrowser(openBrowser, path ?? ''))
    }, ms)
    afterAll(() => close())

    test(
      'the last seconds become a looping picture, which is shared as a file with the link',
      async () => {
        const id = await (await t.agent('ann')).publish({ title, html: game, store: true })
        const tab = await browser.open()
        await tab.goto(`${origin}/a/${id}`)
        const becomes = (expression: string): Promise<unknown> =>
          until(async () => (await tab.evaluate(expression).catch(() => undefined)) || undefined)
        await becomes("!document.getElementById('moment').hidden")
        await tab.evaluate(addShareSheet)
        // Firefox draws a tab at full rate once it is in front, where a key brings it.
        await tab.press('ArrowRight')
        /** Makes a moment, and returns what the share sheet got. */
        const share = async (): Promise<Record<string, unknown>> => {
          await tab.evaluate("self.shared = undefined, document.getElementById('moment').click()")
          await becomes(press('Share'))
          const shared = await becomes('self.shared')
          await becomes(press('Close'))
          await becomes("document.activeElement.tagName === 'IFRAME'")
          return recordOf(shared)
        }
        // The first one may be of the first picture alone.
        const shared = await until(async () => {
          const newest = await share()
          return countFrames(gifOf(newest)) > 3 && newest
        })
        expect(shared).toEqual({
          title,
          text: `${origin}/a/${id}`,
          name: `${title}.gif`,
          type: 'image/gif',
          width: expect.any(Number),
          hasRed: true,
          content: expect.any(String),
        })
        expect(gifOf(shared)).toStartWith('GIF89a')
        expect(gifOf(shared)).toContain('NETSCAPE2.0')
        expect(tab.seen()).toEqual([])
        await tab.close()
      },
      ms,
    )
  })
}
