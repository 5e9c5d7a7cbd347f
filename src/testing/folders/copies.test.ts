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

/** CI opens every fourth in Chromium, and every eighth in Firefox and WebKit. */
const stepOf = { chromium: 4, firefox: 8, webkit: 8 }
const ms = 120_000
const waitMs = 30_000

const reported = "self.told.filter((m)=>m&&'said' in m).map((m)=>m.said)"
const isSaved = "document.getElementById('copied')?.textContent.startsWith('A copy')"

/** Installs each folder, and opens its copy while the server does not respond. */
for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`the copies of folders open offline in ${name}`, () => {
    const hosted = new MemoryAppSource()
    let browser: Browser
    let target: Target
    let tab: Tab
    let isDown = false

    beforeAll(async () => {
      const handle = () => (isDown ? new Response('', { status: 503 }) : undefined)
      target = openTarget(hosted, name, { handle })
      browser = await openBrowser(path ?? '')
      tab = await browser.open()
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      target.close()
    })

    const evaluated = (expression: string, isDone: (value: unknown) => boolean) =>
      findInBrowser(async () => {
        const value = await tab.evaluate(expression).catch(() => undefined)
        return isDone(value) ? value : undefined
      }, waitMs)

    async function run({ files, says, sheets, act = [] }: Folder, at: number): Promise<void> {
      const id = `copies${String(at).padStart(6, '0')}`
      hosted.putFolder(id, files)
      if (sheets) await hosted.putLibraries(id, sheets)
      isDown = false
      await tab.goto(`${target.origin}/a/${id}/install`)
      expect(await evaluated(isSaved, Boolean)).toBe(true)
      isDown = true
      await tab.goto(`${target.origin}/a/${id}`)
      const messages = (count: number) =>
        evaluated(reported, (all) => Array.isArray(all) && all.length >= count)
      for (const { after, run: input } of act) {
        expect(await messages(after)).toHaveLength(after)
        await input(tab)
      }
      expect(await messages(says.length)).toEqual(says)
    }

    const copied = [...plainFolders, ...namedFolders, ...folderPages, ...builtFolders].filter(
      ({ except, exceptInCopy }) => !except?.[name] && !exceptInCopy?.[name],
    )
    for (const [at, folder] of copied.entries()) {
      if (isPart(at, stepOf[name])) test(folder.name, () => run(folder, at), ms)
    }
  })
}
