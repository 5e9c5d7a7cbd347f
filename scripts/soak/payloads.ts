/**
 * `bun scripts/soak/payloads.ts`: opens every page that shows a text of a user in Chromium, with
 * 300 scripts as that text. None may run. The tests parse all of these pages and open a part.
 */
import { PayloadBrowser } from '../../src/testing/browsers/payload-browser.ts'
import { ScriptCanaries } from '../../src/testing/fixtures/script-canaries.ts'

const poisoned = await ScriptCanaries.open()
const browser = await PayloadBrowser.open(poisoned.t)
for await (const { pages } of poisoned.rounds()) {
  await browser.openPages(pages)
  console.log(`payloads: ${browser.opened} pages`)
}
await browser.close()
await poisoned.t.close()
for (const what of browser.ran) console.log(`payloads: ${what}`)
if (browser.ran.length > 0) process.exitCode = 1
