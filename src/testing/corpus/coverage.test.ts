import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { embeddedLibraries } from '../../apps/libraries/embedded.ts'
import { labelOf } from '../../apps/libraries/library.ts'
import { resolvePage } from '../../apps/libraries/resolve-page.ts'
import { readPage, readReferences } from '../../apps/scan/inspection.ts'

const folder = join(import.meta.dir, 'libraries')
const pagesMin = 2

/** Returns the labels of the libraries that a page gets, also of those that others import. */
async function librariesOf(name: string): Promise<Set<string>> {
  const references = readReferences(readPage(readFileSync(join(folder, name), 'utf8')))
  const { contents } = await resolvePage(await embeddedLibraries(), references)
  return new Set(contents.map(({ library }) => labelOf(library)))
}

test('at least two pages load each embedded library', async () => {
  const pages = new Map((await embeddedLibraries()).map((library) => [labelOf(library), 0]))
  for (const page of readdirSync(folder).filter((name) => name.endsWith('.html'))) {
    for (const label of await librariesOf(page)) pages.set(label, (pages.get(label) ?? 0) + 1)
  }
  expect([...pages].filter(([, count]) => count < pagesMin)).toEqual([])
})
