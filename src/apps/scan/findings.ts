import { type Effect, getRule, type RuleCode } from './rules.ts'
import { maskSecrets } from './secret-patterns.ts'

const findingsMax = 50
const hitsPerRuleMax = 400
const excerptMax = 120
const leadMax = 24
const windowMax = 1200

/** A match of a rule: its offset in the page (UTF-16 units), and specific help if there is any. */
export interface Hit {
  code: RuleCode
  at: number
  help?: string
  /** URL that does not load, unless the library store has it. */
  url?: string
}

/** A finding. `line` starts at 1; `excerpt` has at most 120 characters and no secrets. */
export interface Finding {
  code: RuleCode
  effect: Effect
  line: number
  excerpt: string
  help: string
  /** Path of the file in the folder of the page; undefined in the page itself. */
  file?: string
  /** URL that does not load. It is compared with the library store and then removed. */
  url?: string
}

/** The result of the safety check. `listable`: Explore may show the page. */
export interface Scan {
  verdict: 'clean' | 'warn' | 'block'
  listable: boolean
  findings: Finding[]
}

const weight: Record<Effect, number> = { block: 0, unlist: 1, warn: 2 }

/** Collects the hits of one rule, up to `hitsPerRuleMax`. */
export function takeHits(hits: Iterable<Hit>): Hit[] {
  const taken: Hit[] = []
  for (const hit of hits) {
    taken.push(hit)
    if (taken.length >= hitsPerRuleMax) break
  }
  return taken
}

/** Turns hits into findings: most severe first, then by line, one per code and line, at most 50. */
export function toScan(html: string, hits: Hit[]): Scan {
  const lineOf = lines(html)
  const found = new Map<string, Finding & { at: number }>()
  for (const hit of hits.toSorted((a, b) => a.at - b.at)) {
    const { effect, help } = getRule(hit.code)
    const line = lineOf(hit.at)
    const name = `${hit.code} ${line}${effect === 'warn' ? ` ${hit.at}` : ''}`
    if (found.has(name)) continue
    const excerpt = excerptAt(html, hit.at)
    found.set(name, {
      code: hit.code,
      effect,
      line,
      excerpt,
      help: hit.help ?? help,
      ...(hit.url !== undefined && { url: hit.url }),
      at: hit.at,
    })
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

/** Returns a function from offset to line. Offsets must ascend, so that the page is read once. */
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
 * Returns the text at an offset, or at the start of its line if that is near. Spaces are collapsed;
 * secrets are masked before the text is cut.
 */
function excerptAt(html: string, at: number): string {
  const before = html.slice(Math.max(0, at - leadMax), at)
  const lead = before.length < leadMax || before.includes('\n') ? before.split('\n').pop() : ''
  const [line = ''] = html.slice(at, at + windowMax).split('\n', 1)
  const wide = (lead ?? '') + line
  const plain = maskSecrets(wide).replace(/\s+/g, ' ').trim()
  return plain.length > excerptMax ? `${plain.slice(0, excerptMax - 1)}…` : plain
}
