import type { Frame } from 'playwright-core'

import { randomBelow } from '../../src/kernel/ids.ts'
import { type BrowserSession, openServedSession } from '../../src/testing/browsers/session.ts'
import type { TestServer } from '../../src/testing/fixtures/test-server.ts'
import { until } from '../../src/testing/until.ts'
import { atMost, type BenchRow } from './row.ts'

const presses = 200
const limitMs = 50

const html = `<!doctype html><title>Latency</title><script>
self.times = []
let told = () => undefined
// Waits without a poll, which would take time of the page.
self.timeOf = async (at) => {
  while (times.length <= at) await new Promise((resolve) => { told = resolve })
  return times[at]
}
self.start = async () => {
  const phones = await service.room.controller({ buttons: ['A'] })
  phones.on('input', () => {
    times.push(performance.timeOrigin + performance.now())
    told()
  })
}
</script>`

/** Returns the script that presses or releases the button, with the time before it as its value. */
const press = (type: string): string => `(() => {
  const at = performance.timeOrigin + performance.now()
  document.querySelector('#pad button').dispatchEvent(new KeyboardEvent('${type}', { key: ' ' }))
  return at
})()`

/** Opens an app on a large screen, and a phone that is its controller. */
async function openBoth({ t, browser, origin }: BrowserSession & { t: TestServer }) {
  const app = await (await t.agent('ann')).publish({ html })
  const screen = await (await browser.newContext()).newPage()
  await screen.goto(`${origin}/a/${app}`)
  const frame = await until(async (): Promise<Frame | undefined> => {
    const inner = screen.mainFrame().childFrames()[0]
    const isReady = await inner?.evaluate('typeof start').catch(() => '')
    return isReady === 'function' ? inner : undefined
  })
  await frame.evaluate('void start()')
  const bar = screen.getByRole('alertdialog')
  await until(async () => {
    await bar.getByRole('button', { name: 'Share and play' }).click()
    return (await bar.count()) === 0
  })
  const shown = await screen.getByRole('region', { name: 'Phones as controllers' }).textContent()
  const code = /enter ([A-Z2-9]{5})/.exec(shown ?? '')?.[1] ?? ''
  const phone = await (await browser.newContext({ hasTouch: true })).newPage()
  await phone.goto(`${origin}/a/${app}/controller?code=${code}`)
  await phone.getByRole('button', { name: 'Connect' }).click()
  await phone.getByText('Player 1').waitFor()
  return { frame, phone }
}

/**
 * Measures the time from a press on the page of a phone to the event in the app on the large screen
 * (`service.room.controller`). Both are in one Chromium, beside the server. Presses come at random
 * moments.
 */
export async function bench(): Promise<BenchRow[]> {
  const session = await openServedSession()
  const { frame, phone } = await openBoth(session)
  const delays: number[] = []
  for (let at = 0; at < presses; at += 1) {
    const pressed = Number(await phone.evaluate(press(at % 2 === 0 ? 'keydown' : 'keyup')))
    delays.push(Number(await frame.evaluate(`timeOf(${at})`)) - pressed)
    const pause = 40 + randomBelow(40)
    // The clock of a test server stands still.
    session.t.clock.advance(pause)
    await Bun.sleep(pause)
  }
  await session.close()
  const sorted = delays.toSorted((a, b) => a - b)
  return [0.5, 0.95].map((share) =>
    atMost(
      `a press on a phone to its event on the large screen, p${share * 100}`,
      sorted[Math.floor(share * (presses - 1))] ?? Number.NaN,
      limitMs,
      'ms',
    ),
  )
}
