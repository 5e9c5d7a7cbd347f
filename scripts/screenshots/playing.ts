/** Apps that people play: the questions of the shell, boards, a room of two, and spending. */
import type { Browser, Page } from 'playwright-core'

import { publishSamples } from '../../src/server/cli/serve.ts'
import { asRecord, type BerthServer } from '../bench/load/served.ts'
import type { SessionState } from './owner.ts'
import type { Target } from './take.ts'
import { grantCredits } from './wallet.ts'

const stones = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Skipping Stones</title><style>
:root{color-scheme:light dark}body{margin:0;height:100vh;display:grid;place-content:center;gap:16px;text-align:center;font:18px/1.5 system-ui;background:light-dark(#dbe9ee,#10242d)}
button{font:inherit;padding:12px 24px;border:0;border-radius:999px;background:#0b6e63;color:#fff}</style>
<h1>Skipping Stones</h1><p>11 skips!</p><button onclick="service.scores.submit(11)">Submit score</button>
<button onclick="service.scores.show()">Scores</button></html>`

const throws: [name: string, score: number][] = [
  ['Olga', 14],
  ['Ben', 13],
  ['noor', 13],
  ['Marlow', 9],
  ['جميلة', 8],
  ['Cy', 5],
]

/** Opens the frame of the app on a page of the viewer. */
const appOn = (page: Page) => page.frameLocator('iframe')

const pressesMax = 10

/** Presses a button of the bar, which counts no press in its first moments. */
async function press(page: Page, name: string): Promise<void> {
  const bar = page.getByRole('alertdialog')
  await bar.waitFor()
  for (let presses = 0; presses < pressesMax && (await bar.isVisible()); presses += 1) {
    await bar.getByRole('button', { name }).click()
    await bar.waitFor({ state: 'detached', timeout: 1_000 }).catch(() => undefined)
  }
}

/** Submits a score as a guest. */
async function throwStone(origin: string, id: string, name: string, score: number): Promise<void> {
  const headers = { 'content-type': 'application/json', origin }
  const at = `${origin}/api/apps/${id}`
  const body = JSON.stringify({ name })
  const joined = await fetch(`${at}/player`, { method: 'POST', headers, body })
  const cookie = joined.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const sent = { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify({ score }) }
  const { ok, status } = await fetch(`${at}/scores`, sent)
  if (!ok) throw new Error(`The score of ${name} failed: ${status}.`)
}

/** Opens the quilt as a guest who has agreed, and waits for another player. */
async function openQuilt(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await press(page, 'Share and play')
  await appOn(page)
    .locator('#quilt')
    .click({ position: { x: 60, y: 60 } })
}

/** Publishes the apps, and lets a person play with a model. Returns the pages. */
export async function fillPlaying(
  browser: Browser,
  ctx: BerthServer,
  { name, state }: { name: string; state: SessionState },
): Promise<{ guest: Record<string, Target>; own: Record<string, Target> }> {
  const origin = `http://localhost:${ctx.port}`
  const samples = ['last-ferry', 'last-ferry', 'patchwork'] as const
  const [paid, ferry, quilt] = await publishSamples(`${origin}/api`, samples)
  const { key } = await ctx.call('POST', '/keys', { handle: 'flat-stone' })
  const app = { title: 'Skipping Stones', html: stones }
  const made = await ctx.call('POST', '/apps', app, String(key))
  const id = String(asRecord(made['app'])['id'])
  for (const [by, score] of throws) await throwStone(origin, id, by, score)
  await grantCredits(ctx, name)

  const startFerry = async (page: Page, id = ferry?.id): Promise<void> => {
    await page.goto(`${origin}/a/${id}`)
    await appOn(page).getByRole('button', { name: 'Play with a game master' }).click()
    await page.getByRole('alertdialog').waitFor()
  }
  const context = await browser.newContext({ storageState: state })
  const page = await context.newPage()
  await startFerry(page, paid?.id)
  const answered = page.waitForResponse((one) => one.url().includes('/ai/') && one.ok())
  await press(page, 'Allow')
  await answered
  // The rest of the reply, and its charge.
  await page.waitForTimeout(3_000)
  await context.close()

  const url = `${origin}/a/${quilt?.id}`
  return {
    guest: {
      'play-agreement': async (one) => {
        await one.goto(url)
        await one.getByRole('alertdialog').waitFor()
      },
      'play-board': async (one) => {
        await one.goto(`${origin}/a/${id}`)
        await appOn(one).getByRole('button', { name: 'Scores' }).click()
        await one.getByRole('dialog').waitFor()
      },
      'play-name': async (one) => {
        await one.goto(`${origin}/a/${id}`)
        await appOn(one).getByRole('button', { name: 'Submit score' }).click()
        await one.getByRole('alertdialog').waitFor()
      },
      'play-room': async (one) => {
        const other = await browser.newPage()
        one.once('close', () => void other.close())
        await openQuilt(other, url)
        await openQuilt(one, url)
        await appOn(one).getByText('2 are stitching').waitFor()
      },
    },
    own: { 'play-ai-bar': (one) => startFerry(one), 'play-ai-spending': '/account' },
  }
}
