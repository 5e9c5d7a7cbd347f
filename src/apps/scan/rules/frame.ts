import type { Hit } from '../findings.ts'
import type { Page, Script } from '../page.ts'

const help =
  'A page cannot leave its frame here. Remove the code that navigates top or parent, or that ' +
  'accesses the frame element.'

/** Attempts to break out of the frame: navigating `top` or `parent`, removing the sandbox. */
export function* frameBreaks(page: Page): Generator<Hit> {
  for (const script of page.scripts) {
    for (const name of ['top', 'parent'])
      for (const index of script.tokens.find(name))
        if (isOuter(script, index) && isMoved(script, index + 1)) yield hit(script, index)
    for (const index of script.tokens.find('frameElement'))
      if (touchesSandbox(script, index)) yield hit(script, index)
  }
}

function hit({ place }: Script, index: number): Hit {
  return { code: 'sandbox.differs', at: place(index), help }
}

const owners = new Set(['window', 'self', 'globalThis', 'parent', 'top'])

function isOuter({ tokens: { texts } }: Script, index: number): boolean {
  return texts[index - 1] !== '.' || owners.has(texts[index - 2] ?? '')
}

/**
 * Matches `.location =`, `.location.href =` and `.location.replace(` after `top`, also in brackets.
 */
function isMoved({ tokens: { texts } }: Script, from: number): boolean {
  let at = member(texts, from, ['location'])
  if (at === -1) return false
  const deeper = member(texts, at, [
    'href',
    'hash',
    'search',
    'host',
    'hostname',
    'pathname',
    'protocol',
  ])
  if (deeper !== -1) at = deeper
  if (texts[at] === '=') return true
  const call = member(texts, at, ['replace', 'assign'])
  return call !== -1 && texts[call] === '('
}

/** Returns the token after `.name` or `['name']`; -1 if there is neither. */
function member(texts: string[], at: number, names: string[]): number {
  if ((texts[at] === '.' || texts[at] === '?.') && names.includes(texts[at + 1] ?? ''))
    return at + 2
  if (texts[at] === '[' && names.includes(texts[at + 1] ?? '') && texts[at + 2] === ']')
    return at + 3
  return -1
}

function touchesSandbox({ tokens: { texts } }: Script, index: number): boolean {
  const after = texts.slice(index + 1, index + 6)
  return after.includes('sandbox') || after.includes('srcdoc')
}
