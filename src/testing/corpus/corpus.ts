import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { allBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findBrowser } from '../browsers/browser.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { isThorough } from '../thorough.ts'
import { runPages } from './runner.ts'

const ms = 300_000
/**
 * Chromium runs each page. Firefox takes five times as long for one, so that it and WebKit run a
 * third of them, and all in the thorough run or with CORPUS=.
 */
const partOfOthers = 3
const runsAll = isThorough || Bun.env['CORPUS'] !== undefined

const types: Record<string, string> = {
  png: 'image/png',
  wav: 'audio/wav',
  json: 'application/json',
}

/** Public ids have 12 characters. */
const idOf = (at: number): string => `page${String(at).padStart(8, '0')}`

/** Gives an app all files of a folder. */
function putFiles(hosted: MemoryAppSource, id: string, folder: string): void {
  for (const name of readdirSync(folder)) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)] ?? ''
    hosted.putFile(id, name, type, readFileSync(join(folder, name)))
  }
}

/**
 * Declares the tests of a corpus: each page of `folder` tests itself in the sandbox and posts true,
 * or what is wrong. `viewer-…` pages run in the viewer, and `files-…` pages have the files of the
 * folder "files". `excepted` names pages that a browser cannot run, as the docs say.
 */
export function testCorpus(
  title: string,
  folder: string,
  excepted: Partial<Record<Browser['name'], string[]>> = {},
): void {
  const names = readdirSync(folder).filter(
    (name) => name.endsWith('.html') && new RegExp(Bun.env['CORPUS'] ?? '').test(name),
  )
  describe.each(allBrowsers)(`${title} in %s`, (browserName, open) => {
    const path = findBrowser(browserName)
    test.skipIf(path === undefined)(
      'each page passes',
      async () => {
        const hosted = new MemoryAppSource()
        const pages = new Map<string, string>()
        const step = browserName === 'chromium' || runsAll ? 1 : partOfOthers
        for (const [at, name] of names.entries()) {
          if (at % step !== 0 || excepted[browserName]?.includes(name)) continue
          hosted.put(idOf(at), readFileSync(join(folder, name), 'utf8'))
          await hosted.putLibraries(idOf(at))
          if (name.startsWith('files-')) putFiles(hosted, idOf(at), join(folder, 'files'))
          pages.set(idOf(at), name)
        }
        const [alone, together] = [true, false].map((isAlone) =>
          [...pages.keys()].filter((id) => pages.get(id)?.startsWith('viewer-') === isAlone),
        )
        const results = await runPages(hosted, () => open(path ?? ''), together ?? [], alone)
        const failed = [...pages].flatMap(([id, name]) =>
          results.get(id) === true ? [] : [[name, results.get(id)]],
        )
        expect(failed).toEqual([])
      },
      ms,
    )
  })
}
