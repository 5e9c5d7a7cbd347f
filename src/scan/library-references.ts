import { isLibraryHost } from '../libraries/address.ts'
import type { LibraryReference, PageReferences } from '../libraries/references.ts'
import { isRemote, type Page } from './page.ts'
import { entriesOf } from './rules/own-files.ts'

const urlsMax = 1_000
const namesMax = 1_000
const integrityCharsMax = 1_000
const scriptUses = new Set(['src', 'importScripts', 'loadScript'])
/** URLs in the text of a script, also inside the text of a worker. */
const urlsInCode = /https:\/\/[^\s"'`<>\\)]{1,500}/g
/** Names in import statements. JSX cannot be parsed, so they are read from the text. */
const importNames = /\b(?:from|import)\s*\(?\s*(["'])([^"'\s]{1,300})\1/g

/** Collects everything in a page that may name a library: tags, styles, import maps and code. */
export function readReferences(page: Page): PageReferences {
  const urls = new Map<string, LibraryReference>()
  const add = (reference: LibraryReference): void => {
    const { url } = reference
    if (urls.size >= urlsMax || !isRemote(url)) return
    const known = urls.get(url)
    if (known && (known.use !== 'code' || reference.use === 'code')) return
    if (isLibraryHost(url)) urls.set(url, reference)
  }
  for (const { use, url, isModule, integrity } of page.addresses) {
    if (!/^(?:script|link|style)$/.test(use)) continue
    add({
      url: url.trim(),
      use: use !== 'script' ? 'style' : isModule ? 'module' : 'script',
      ...(integrity && { integrity: integrity.slice(0, integrityCharsMax) }),
    })
  }
  for (const { use, url } of page.requests) {
    add({
      url,
      use: use === 'import' || use === 'from' ? 'module' : scriptUses.has(use) ? 'script' : 'code',
    })
  }
  for (const { tokens } of page.scripts)
    for (const [url] of tokens.code.matchAll(urlsInCode)) add({ url, use: 'code' })
  const imports = page.importMaps.flatMap(({ text }) => entriesOf(text)).slice(0, urlsMax)
  return { urls: [...urls.values()], imports, names: namesOf(page) }
}

function namesOf(page: Page): string[] {
  if (page.importMaps.length === 0) return []
  const names = new Set<string>()
  for (const { tokens } of page.scripts)
    for (const [, , name = ''] of tokens.code.matchAll(importNames)) {
      if (names.size >= namesMax) return [...names]
      if (!isRemote(name)) names.add(name)
    }
  return [...names]
}
