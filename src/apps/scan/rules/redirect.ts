import type { Hit } from '../findings.ts'
import { Navigations } from '../navigation.ts'
import { isRemote, newScanBudget, type Page, type Script } from '../page.ts'
import { Presses } from '../presses.ts'
import { NAME, TEXT } from '../tokens.ts'

const help =
  'A script cannot open another page here. Use a plain link, which the viewer offers to open in a ' +
  'new tab.'

/**
 * Meta refreshes to a URL, and scripts that leave the page by themselves. A script that does so
 * when a visitor presses something does not work here either, but does nothing to visitors.
 */
export function* redirects(page: Page): Generator<Hit> {
  for (const { url, at } of page.refreshes)
    if (!url.startsWith('#')) yield { code: 'redirect.meta', at }
  const presses = new Presses(page)
  const budget = newScanBudget('')
  const all = page.scripts.map((script) => ({ script, names: new Navigations(script, budget) }))
  for (const { script, names } of all) {
    for (const { index, use } of names.found) {
      const at = script.place(index)
      if (use === 'meta') yield { code: 'redirect.meta', at }
      else if (!presses.has(script, index)) yield { code: 'redirect.script', at }
      else if (use === 'go') yield { code: 'sandbox.differs', at, help }
    }
    for (const index of clicks(page, script, names))
      if (!presses.has(script, index)) yield { code: 'redirect.script', at: script.place(index) }
  }
  yield* passedUrls(all, presses)
}

/** Functions that open their parameter, called with another host: `go('https://…')`. */
function* passedUrls(
  all: { script: Script; names: Navigations }[],
  presses: Presses,
): Generator<Hit> {
  const openers = new Set<string>()
  for (const { script, names } of all)
    for (const { index, value } of names.unknown) {
      const around = presses.functionAt(script, index)
      if (around && around.parameter === script.tokens.texts[value]) openers.add(around.name)
    }
  for (const { script, names } of all)
    for (const opener of openers)
      for (const index of script.tokens.find(opener)) {
        const { texts } = script.tokens
        if (texts[index - 1] === 'function' || texts[index + 1] !== '(') continue
        if (!names.leadsAway(index + 2)) continue
        if (!presses.has(script, index)) yield { code: 'redirect.script', at: script.place(index) }
        else yield { code: 'sandbox.differs', at: script.place(index), help }
      }
}

const lookBack = 24

/** Clicks on links to other hosts, and forms that are sent there, by a script. */
function* clicks(page: Page, script: Script, { pointed }: Navigations): Generator<number> {
  const { texts, find } = script.tokens
  const ids = new Set(page.links.map(({ id }) => id))
  const sends = page.forms.some(({ action }) => isRemote(action))
  for (const name of ['click', 'dispatchEvent', 'submit', 'requestSubmit'])
    for (const index of find(name)) {
      if (texts[index + 1] !== '(' || !/^\??\.$/.test(texts[index - 1] ?? '')) continue
      const owner = texts[index - 2] ?? ''
      const isClick = name === 'click' || name === 'dispatchEvent'
      const isAway = isClick
        ? pointed.links.has(owner) || namesLink(script, index - 2, ids)
        : pointed.forms.has(owner) || sends
      if (isAway) yield index
    }
}

/** Returns whether an expression that ends at a token names a link to another host. */
function namesLink({ tokens }: Script, end: number, ids: Set<string>): boolean {
  const { kinds, texts } = tokens
  const isLink = (id: string): boolean => id !== '' && ids.has(id)
  if (kinds[end] === NAME) return isLink(texts[end] ?? '')
  if (ids.size === 0 || !/^[)\]]$/.test(texts[end] ?? '')) return false
  for (let at = end - 1; at > end - lookBack && !/^[;{]$/.test(texts[at] ?? ''); at -= 1) {
    const text = kinds[at] === TEXT ? (texts[at] ?? '') : ''
    if (/^a(?:$|[.#[:])/.test(text) || isLink(text.replace('#', ''))) return true
  }
  return false
}
