import { isRecord } from '../core/schema.ts'
import { assetVoiceCharsMax, assetWhatCharsMax } from '../limits.ts'
import type { Page } from './page.ts'

const asksMax = 300

/** What can be made for a page. */
export const askKinds = ['sprite', 'picture', 'sound', 'voice', 'music'] as const

/** The form of an asset's name: none that could be taken for a path. */
export const assetName = /^[a-z0-9][a-z0-9._-]{0,63}$/

/**
 * What a page asks to have made for it: one file, by name (agent API, Assets). Seconds 0.1 to 60;
 * sizes in pixels.
 */
export interface AssetAsk {
  name: string
  kind: (typeof askKinds)[number]
  what: string
  seconds?: number
  width?: number
  height?: number
  voice?: string
  seed?: number
}

/**
 * The asks of a page's `data-assets` lists, at most 300, the first of each name; `faults` say
 * what could not be read.
 */
export function asksOf(page: Page): { asks: AssetAsk[]; faults: { at: number; help: string }[] } {
  const asks = new Map<string, AssetAsk>()
  const faults: { at: number; help: string }[] = []
  for (const { text, at } of page.assetLists) {
    const list = parse(text)
    if (!Array.isArray(list)) {
      faults.push({
        at,
        help: 'The data-assets script must hold a JSON list of { name, kind, what }.',
      })
      continue
    }
    for (const [index, row] of list.slice(0, asksMax).entries()) {
      const ask = askOf(row)
      if (typeof ask === 'string')
        faults.push({ at, help: `Ask ${index + 1} in data-assets: ${ask}.` })
      else if (asks.size < asksMax && !asks.has(ask.name)) asks.set(ask.name, ask)
    }
    if (list.length > asksMax)
      faults.push({ at, help: `data-assets has ${list.length} asks; the first ${asksMax} count.` })
  }
  return { asks: [...asks.values()], faults }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const numbers: readonly [
  field: 'seconds' | 'width' | 'height' | 'seed',
  from: number,
  to: number,
  whole: boolean,
][] = [
  ['seconds', 0.1, 60, false],
  ['width', 1, 4096, true],
  ['height', 1, 4096, true],
  ['seed', 0, Number.MAX_SAFE_INTEGER, true],
]

/** One ask, or in words what is wrong with it. */
function askOf(row: unknown): AssetAsk | string {
  if (!isRecord(row)) return 'not an object'
  const { name, what, voice } = row
  if (typeof name !== 'string' || !assetName.test(name))
    return 'name must be 1 to 64 of a-z, 0-9, dot, - and _'
  const kind = askKinds.find((known) => known === row.kind)
  if (!kind) return `kind must be one of ${askKinds.join(', ')}`
  if (typeof what !== 'string' || what.length === 0 || what.length > assetWhatCharsMax)
    return `what must be 1 to ${assetWhatCharsMax} characters`
  if (voice !== undefined && (typeof voice !== 'string' || voice.length > assetVoiceCharsMax))
    return `voice must be at most ${assetVoiceCharsMax} characters`
  const ask: AssetAsk = { name, kind, what }
  if (voice !== undefined) ask.voice = voice
  for (const [field, from, to, whole] of numbers) {
    const value = row[field]
    if (value === undefined) continue
    const fits = typeof value === 'number' && value >= from && value <= to
    if (!fits || (whole && !Number.isInteger(value))) return `${field} must be ${from} to ${to}`
    ask[field] = value
  }
  return ask
}
