import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { sharedBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findForPages, findInBrowser, type Tab } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { openTarget, type Target } from '../red-team/target.ts'
import { isPart } from '../thorough.ts'
import { builtFolders } from './builds.ts'
import type { Folder } from './folder.ts'
import { namedFolders } from './names.ts'
import { folderPages } from './pages.ts'
import { plainFolders } from './plain.ts'

const ms = 60_000
const waitMs = 20_000
/** An engine of 10 MB starts slowly while other tests run. */
const slowMs = 170_000
/**
 * CI opens every third build of a tool in Chromium, and all other folders; of all folders every
 * eighth in Firefox and WebKit. copies.test.ts opens copies of others.
 */
const stepOf = { chromium: 3, firefox: 8, webkit: 8 }

async function readMessages(tab: Tab): Promise<unknown[]> {
  const messages = await tab
    .evaluate("self.told.filter((m)=>m&&'said' in m).map((m)=>m.said)")
    .catch(() => [])
  return Array.isArray(messages) ? messages : []
}

const waitForMessages = (
  tab: Tab,
  count: number,
  timeoutMs: number,
): Promise<unknown[] | undefined> =>
  findInBrowser(async () => {
    const all = await readMessages(tab)
    return all.length >= count ? all : undefined
  }, timeoutMs)

/** Publishes each folder as the server does, and opens it in the viewer of each browser. */
for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`folders run as on a static host in ${name}`, () => {
    let browser: Browser
    let target: Target
    let tab: Tab
    const hosted = new MemoryAppSource()

    beforeAll(async () => {
      target = openTarget(hosted, name)
      browser = await openBrowser(path ?? '')
      tab = await browser.open()
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      target.close()
    })

    async function run(
      { files, says, sheets, act = [], isLarge }: Folder,
      at: number,
    ): Promise<void> {
      const most = isLarge ? slowMs : waitMs
      const id = `folder${String(at).padStart(6, '0')}`
      hosted.putFolder(id, files)
      if (sheets) await hosted.putLibraries(id, sheets)
      await tab.goto(`${target.origin}/a/${id}`)
      for (const { after, run: input } of act) {
        expect(await waitForMessages(tab, after, most)).toHaveLength(after)
        await input(tab)
      }
      expect(await waitForMessages(tab, says.length, most)).toEqual(says)
    }

    const all = [...plainFolders, ...namedFolders, ...folderPages, ...builtFolders]
    for (const [at, folder] of all.entries()) {
      const isAlways = name === 'chromium' && !builtFolders.includes(folder)
      const isTried = isAlways || isPart(at, stepOf[name])
      test.if(isTried && folder.except?.[name] === undefined)(
        folder.name,
        () => run(folder, at),
        folder.isLarge ? 2 * slowMs : ms,
      )
    }
  })
}
