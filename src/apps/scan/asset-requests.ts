import { assetPromptCharsMax, assetVoiceCharsMax } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import type { Page } from './page.ts'

const requestsMax = 300

/** Kinds of assets that can be generated. */
export const assetRequestKinds = ['sprite', 'picture', 'sound', 'voice', 'music'] as const

/** Pattern of an asset's name, which can never be a path. */
export const assetName = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** One file that a page requests by name (document 1, section 2). Sizes in pixels. */
export interface AssetRequest {
  name: string
  kind: (typeof assetRequestKinds)[number]
  what: string
  seconds?: number
  width?: number
  height?: number
  voice?: string
  seed?: number
}

/** Reads a page's `data-assets` lists: at most 300 requests, the first of each name. */
export function readAssetRequests(page: Page): {
  requests: AssetRequest[]
  problems: { at: number; help: string }[]
} {
  const requests = new Map<string, AssetRequest>()
  const problems: { at: number; help: string }[] = []
  for (const { text, at } of page.assetLists) {
    const list = parse(text)
    if (!Array.isArray(list)) {
      problems.push({
        at,
        help: 'The data-assets script must contain a JSON list of { name, kind, what }.',
      })
      continue
    }
    for (const [index, row] of list.slice(0, requestsMax).entries()) {
      const ask = parseAssetRequest(row)
      if (typeof ask === 'string')
        problems.push({ at, help: `Entry ${index + 1} of data-assets: ${ask}.` })
      else if (requests.size < requestsMax && !requests.has(ask.name)) requests.set(ask.name, ask)
    }
    if (list.length > requestsMax)
      problems.push({
        at,
        help: `data-assets has ${list.length} entries; only the first ${requestsMax} are used.`,
      })
  }
  return { requests: [...requests.values()], problems }
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

/** Parses one entry. Returns the problem as text when it is invalid. */
function parseAssetRequest(row: unknown): AssetRequest | string {
  if (!isRecord(row)) return 'not an object'
  const { name, what, voice } = row
  if (typeof name !== 'string' || !assetName.test(name))
    return 'name must be 1 to 64 of a-z, 0-9, dot, - and _'
  const kind = assetRequestKinds.find((known) => known === row.kind)
  if (!kind) return `kind must be one of ${assetRequestKinds.join(', ')}`
  if (typeof what !== 'string' || what.length === 0 || what.length > assetPromptCharsMax)
    return `what must be 1 to ${assetPromptCharsMax} characters`
  if (voice !== undefined && (typeof voice !== 'string' || voice.length > assetVoiceCharsMax))
    return `voice must be at most ${assetVoiceCharsMax} characters`
  const ask: AssetRequest = { name, kind, what }
  if (voice !== undefined) ask.voice = voice
  for (const [field, from, to, whole] of numbers) {
    const value = row[field]
    if (value === undefined) continue
    const isInRange = typeof value === 'number' && value >= from && value <= to
    if (!isInRange || (whole && !Number.isInteger(value)))
      return `${field} must be ${from} to ${to}`
    ask[field] = value
  }
  return ask
}
