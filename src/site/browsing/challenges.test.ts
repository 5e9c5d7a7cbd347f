import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Frame, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const html = `<!doctype html><title>Hop</title><script>
self.run = async (code) => {
  try { return { value: await eval('(async () => { ' + code + ' })()') } }
  catch ({ code }) { return { code } }
}
// service.scores
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('a challenge in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  interface Player {
    page: Page
    run(code: string): Promise<unknown>
  }

  async function open(url: string, page?: Page): Promise<Player> {
    const shown = page ?? (await (await browser.newContext()).newPage())
    await shown.goto(url)
    const frame = await until(async (): Promise<Frame | undefined> => {
      const inner = shown.mainFrame().childFrames()[0]
      const isReady = await inner?.evaluate(`typeof run`).catch(() => '')
      return isReady === 'function' ? inner : undefined
    })
    return {
      page: shown,
      run: (code) => frame.evaluate((text) => Reflect.get(globalThis, 'run')(text), code),
    }
  }

  /** Submits a score, and gives the app a name where the shell asks for one. */
  async function submit({ page, run }: Player, score: number, name?: string): Promise<void> {
    const submitted = run(`return (await service.scores.submit(${score})).score`)
    const bar = page.getByRole('alertdialog')
    if (name !== undefined) {
      await bar.getByLabel('Name').fill(name)
      await until(async () => {
        await bar.getByRole('button', { name: 'Show my scores' }).click()
        return (await bar.count()) === 0
      })
    }
    await submitted
  }

  test(
    'a friend gets the seed and the score of a link, sees who won, and the first player too',
    async () => {
      const app = await (await t.agent('ann')).publish({ html })
      const olga = await open(`${origin}/a/${app}`)
      expect(await olga.run('return service.challenge')).toEqual({ value: null })
      expect(await olga.run('return service.scores.challenge()')).toEqual({ code: 'no_score' })
      const seed = await olga.run('return service.seed')
      expect(await olga.run('return service.seed')).toEqual(seed)
      await submit(olga, 95, 'Olga')
      const shown = olga.run('await service.scores.show()')
      await olga.page.getByRole('button', { name: 'Challenge a friend' }).click()
      await shown
      const link = olga.page.getByRole('textbox', { name: 'Link' })
      const url = await link.inputValue()
      expect(url).toContain(`/a/${app}?challenge=`)
      await olga.page.getByRole('button', { name: 'Close' }).click()

      const friend = await open(origin + new URL(url).pathname + new URL(url).search)
      expect(await friend.run('return service.seed')).toEqual(seed)
      expect(await friend.run('return service.challenge')).toEqual({
        value: {
          ...Object({ seed: Object(seed).value }),
          score: 95,
          by: 'Olga',
          board: 'main',
          lowest: false,
        },
      })
      await submit(friend, 90, 'Ben')
      const result = friend.page.getByRole('dialog')
      await result.getByText('Not beaten yet').waitFor()
      await result.getByRole('button', { name: 'Close' }).click()
      await submit(friend, 120)
      await result.getByText('You won the challenge!').waitFor()
      expect(await result.getByRole('table').textContent()).toBe('You120Olga95')

      const back = await open(`${origin}/a/${app}`, olga.page)
      await back.run('await service.seed')
      await back.page.getByRole('dialog', { name: 'Ben played your challenge' }).waitFor()
      expect(await back.page.getByRole('table').textContent()).toBe('You95Ben120')
      const again = await open(`${origin}/a/${app}`, olga.page)
      await again.run('await service.challenge; await service.scores.top()')
      expect(await again.page.getByRole('dialog').count()).toBe(0)

      await submit(again, 130)
      const many = '[1, 2, 3].map(() => service.scores.challenge())'
      const dialogs = again.page.locator('dialog')
      await again.run(`await Promise.all(${many})`)
      await dialogs.getByText('130 to beat').waitFor()
      expect(await dialogs.count()).toBe(1)
      await dialogs.getByRole('button', { name: 'Close' }).click()
      await dialogs.waitFor({ state: 'detached' })

      const unknown = await open(`${origin}/a/${app}?challenge=aaaaaaaaaaaa`)
      expect(await unknown.run('return service.challenge')).toEqual({ value: null })
    },
    ms,
  )
})
