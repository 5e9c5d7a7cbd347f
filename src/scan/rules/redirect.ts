import type { Hit } from '../findings.ts'
import { type Constants, fold } from '../fold.ts'
import { isRemote, newScanBudget, type Page, type Script } from '../page.ts'

/** Meta refreshes to a URL, and scripts that navigate without a click. */
export function* redirects(page: Page): Generator<Hit> {
  for (const { url, at } of page.refreshes)
    if (!url.startsWith('#')) yield { code: 'redirect.meta', at }
  // No names are known here, and all scripts of the page share one budget.
  const constants: Constants = { values: new Map(), budget: newScanBudget('') }
  for (const script of page.scripts) {
    if (script.handler) continue
    for (const index of script.tokens.find('location'))
      if (isOwn(script, index) && leadsAway(script, index, constants))
        yield { code: 'redirect.script', at: script.place(index) }
  }
}

const owners = new Set(['window', 'document', 'self', 'globalThis'])

function isOwn({ tokens: { texts } }: Script, index: number): boolean {
  return texts[index - 1] !== '.' || owners.has(texts[index - 2] ?? '')
}

/** Data URLs that a browser would show as a page. */
const aPage = /^\s*data:(?!application\/octet-stream)/i

function leadsAway({ tokens }: Script, index: number, constants: Constants): boolean {
  const { texts } = tokens
  let at = index + 1
  if (texts[at] === '.' && ['href', 'replace', 'assign'].includes(texts[at + 1] ?? '')) at += 2
  if (texts[at] !== '=' && texts[at] !== '(') return false
  const url = fold(tokens, at + 1, constants)
  return url !== undefined && (isRemote(url.value) || aPage.test(url.value))
}
