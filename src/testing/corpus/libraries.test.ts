import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { type Browser, findBrowser } from '../browsers/browser.ts'
import { openChromium } from '../browsers/chromium.ts'
import { openFirefox } from '../browsers/firefox.ts'
import { openWebkit } from '../browsers/webkit.ts'
import { MemoryAppSource } from '../fakes/memory-app-source.ts'
import { runPages } from './runner.ts'

const folder = join(import.meta.dir, 'libraries')
const names = readdirSync(folder).filter(
  (name) => name.endsWith('.html') && new RegExp(Bun.env['CORPUS'] ?? '').test(name),
)
const ms = 300_000

/** Public ids have 12 characters. */
const idOf = (at: number): string => `page${String(at).padStart(8, '0')}`

const openers: [Browser['name'], (path: string) => Promise<Browser>][] = [
  ['chromium', (path) => openChromium(path)],
  ['firefox', (path) => openFirefox(path)],
  ['webkit', (path) => openWebkit(path)],
]

/** Each page of the corpus tests itself in the sandbox and posts true, or what is wrong. */
describe.each(openers)('pages with libraries in %s', (browserName, open) => {
  const path = findBrowser(browserName)
  test.skipIf(path === undefined)(
    'each page finds its libraries',
    async () => {
      const hosted = new MemoryAppSource()
      const pages = new Map<string, string>()
      // Firefox runs them five times slower than the others: a third of them, or all by CORPUS=.
      const step = browserName === 'firefox' && Bun.env['CORPUS'] === undefined ? 3 : 1
      for (const [at, name] of names.entries()) {
        if (at % step !== 0) continue
        hosted.put(idOf(at), readFileSync(join(folder, name), 'utf8'))
        await hosted.putLibraries(idOf(at))
        pages.set(idOf(at), name)
      }
      const browser = await open(path ?? '')
      const results = await runPages(hosted, browser, [...pages.keys()])
      await browser.close()
      const failed = [...pages].flatMap(([id, name]) =>
        results.get(id) === true ? [] : [[name, results.get(id)]],
      )
      expect(failed).toEqual([])
    },
    ms,
  )
})
