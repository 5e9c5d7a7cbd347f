import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { sharedBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findForPages, findInBrowser, type Tab } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openTarget, type Target } from './target.ts'

const ms = 120_000
const waitMs = 30_000
const id = 'copiedApp001'
const other = 'otherApp0001'
const controller = 'navigator.serviceWorker.controller?.scriptURL ?? null'

/** Returns whether the browser refuses the worker of the app for a scope. */
const rejectsScope = (scope: string): string =>
  `navigator.serviceWorker.register('/a/${id}/offline/worker.js', { scope: '${scope}' })
    .then(() => false, () => true)`

/** The worker of an installed app, in the browsers that run it as the sandbox expects. */
for (const [name, openBrowser] of sharedBrowsers.filter(([one]) => one !== 'webkit')) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`the worker of an installed app, in ${name}`, () => {
    const hosted = new MemoryAppSource()
    let browser: Browser
    let target: Target
    let tab: Tab

    const shows = async (expression: string, expected: unknown): Promise<void> => {
      let found: unknown
      await findInBrowser(async () => {
        found = await tab.evaluate(expression).catch(() => undefined)
        return found === expected || undefined
      }, waitMs)
      expect(found).toBe(expected)
    }

    beforeAll(async () => {
      target = openTarget(hosted, name)
      browser = await openBrowser(path ?? '')
      hosted.put(id, '<p>copied</p>')
      hosted.put(other, '<p>other</p>')
      tab = await browser.open()
      await tab.goto(`${target.origin}/a/${id}/install`)
      await shows("document.getElementById('copied')?.textContent.startsWith('A copy')", true)
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      target.close()
    })

    test(
      'controls the page of its app, and no other app or page',
      async () => {
        await tab.goto(`${target.origin}/a/${id}`)
        await shows(controller, `${target.origin}/a/${id}/offline/worker.js`)
        for (const page of [`/a/${other}`, '/watch']) {
          await tab.goto(target.origin + page)
          await shows('location.pathname', page)
          expect([page, await tab.evaluate(controller)]).toEqual([page, null])
        }
        for (const scope of ['/', '/a/', `/a/${other}`, `/a/${id.slice(0, 6)}`])
          expect([scope, await tab.evaluate(rejectsScope(scope))]).toEqual([scope, true])
      },
      ms,
    )

    test(
      'saves the copy again where the browser has removed it',
      async () => {
        await tab.goto(`${target.origin}/a/${id}`)
        await shows(controller, `${target.origin}/a/${id}/offline/worker.js`)
        const remove = `caches.keys().then((all) => Promise.all(all.map((one) => caches.delete(one))))`
        await tab.evaluate(remove)
        await tab.goto(`${target.origin}/a/${id}`)
        await shows(
          `caches.keys().then((all) => all.some((one) => one.startsWith('/a/${id} ')))`,
          true,
        )
      },
      ms,
    )

    test.each(['taken_down', 'quarantined', 'closed'] as const)(
      'ends with its copy when the app is %s',
      async (state) => {
        const stored = hosted.apps.get(id)
        if (!stored) throw new Error('the app is missing')
        const setState = (next: typeof stored.app.state): void => {
          hosted.apps.set(id, { ...stored, app: { ...stored.app, state: next } })
          hosted.commitCount += 1
        }
        setState('live')
        await tab.goto(`${target.origin}/a/${id}/install`)
        await shows("document.getElementById('copied')?.textContent.startsWith('A copy')", true)
        await shows(
          `caches.keys().then((all) => all.some((one) => one.startsWith('/a/${id} ')))`,
          true,
        )
        setState(state)
        await tab.goto(`${target.origin}/a/${id}`)
        await shows(
          `caches.keys().then((all) => all.some((one) => one.startsWith('/a/${id} ')))`,
          false,
        )
        await shows('navigator.serviceWorker.getRegistrations().then((all) => all.length)', 0)
        setState('live')
      },
      ms,
    )
  })
}
