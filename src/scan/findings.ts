import { type Effect, type RuleCode, theRule } from './rules.ts'
import { maskSecrets } from './secret-shapes.ts'

const findingsMax = 50
const hitsPerRuleMax = 400
const excerptMax = 120
const leadMax = 24
const windowMax = 1200

/**
 * What a rule reports: its code, the offset in the page (UTF-16 units), and more exact words than
 * the rule's own help.
 */
export interface Hit {
  code: RuleCode
  at: number
  help?: string
}

/** One thing found: `line` counts from 1, `excerpt` has at most 120 characters and no secret. */
export interface Finding {
  code: RuleCode
  effect: Effect
  line: number
  excerpt: string
  help: string
}

/** The answer of the safety check; `listable` says whether Explore may show the page. */
export interface Scan {
  verdict: 'clean' | 'warn' | 'block'
  listable: boolean
  findings: Finding[]
}

const weight: Record<Effect, number> = { block: 0, unlist: 1, warn: 2 }

/**
 * Takes what one rule reports, up to a bound: a page of a million faults is as bad as one of four
 * hundred.
 */
export function takeHits(hits: Iterable<Hit>): Hit[] {
  const taken: Hit[] = []
  for (const hit of hits) {
    taken.push(hit)
    if (taken.length >= hitsPerRuleMax) break
  }
  return taken
}

/** Turns hits into the answer: gravest first, then by line, one per code and line, at most 50. */
export function scanOf(html: string, hits: Hit[]): Scan {
  const lineOf = lines(html)
  const found = new Map<string, Finding & { at: number }>()
  for (const hit of hits.toSorted((a, b) => a.at - b.at)) {
    const { effect, help } = theRule(hit.code)
    const line = lineOf(hit.at)
    const name = `${hit.code} ${line}${effect === 'warn' ? ` ${hit.at}` : ''}`
    if (found.has(name)) continue
    const excerpt = excerptAt(html, hit.at)
    found.set(name, { code: hit.code, effect, line, excerpt, help: hit.help ?? help, at: hit.at })
  }
  const findings = [...found.values()]
    .toSorted((a, b) => weight[a.effect] - weight[b.effect] || a.at - b.at)
    .map(({ at: _, ...finding }) => finding)
  const first = findings[0]?.effect
  return {
    verdict: first === 'block' ? 'block' : first ? 'warn' : 'clean',
    listable: first !== 'block' && first !== 'unlist',
    findings: findings.slice(0, findingsMax),
  }
}

/** A function from offset to line; offsets must not fall, so that the page is walked once. */
function lines(html: string): (at: number) => number {
  let line = 1
  let next = html.indexOf('\n')
  return (at) => {
    while (next !== -1 && next < at) {
      line++
      next = html.indexOf('\n', next + 1)
    }
    return line
  }
}

/**
 * The text from an offset on, or from the start of its line where that is near: spaces collapsed,
 * secrets masked before anything is cut.
 */
function excerptAt(html: string, at: number): string {
  const before = html.slice(Math.max(0, at - leadMax), at)
  const lead = before.length < leadMax || before.includes('\n') ? before.split('\n').pop() : ''
  const [line = ''] = html.slice(at, at + windowMax).split('\n', 1)
  const wide = (lead ?? '') + line
  const plain = maskSecrets(wide).replace(/\s+/g, ' ').trim()
  return plain.length > excerptMax ? `${plain.slice(0, excerptMax - 1)}…` : plain
}
