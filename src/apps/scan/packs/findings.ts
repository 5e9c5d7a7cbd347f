import { maskSecrets } from '../secret-patterns.ts'
import { getPackRule, type PackEffect, type PackRuleCode, packRulesVersion } from './rules.ts'
import type { PackFile } from './statements.ts'

const findingsMax = 50
const perRuleMax = 10
const excerptMax = 120
const windowMax = 1_200

/** A match of a rule at an offset of a file. `effect` and `help` replace those of the rule. */
export interface PackHit {
  code: PackRuleCode
  at: number
  effect?: PackEffect
  help?: string
}

/** A finding. `line` starts at 1; `excerpt` has at most 120 visible characters and no secrets. */
export interface PackFinding {
  code: PackRuleCode
  effect: PackEffect
  file: string
  line: number
  excerpt: string
  help: string
}

/** Result of the safety check. `listable`: Explore may show the pack; `rules`: their version. */
export interface PackScan {
  rules: number
  verdict: 'clean' | 'warn' | 'block'
  listable: boolean
  findings: PackFinding[]
}

/** Turns hits of a file into findings: one per rule and line, at most ten per rule. */
export function toFindings({ path, text }: PackFile, hits: PackHit[]): PackFinding[] {
  const lineOf = lines(text)
  const found = new Map<string, PackFinding>()
  const counts = new Map<PackRuleCode, number>()
  for (const hit of hits.toSorted((a, b) => a.at - b.at)) {
    const rule = getPackRule(hit.code)
    const line = lineOf(hit.at)
    const effect = hit.effect ?? rule.effect
    const name = `${hit.code} ${line}`
    const count = counts.get(hit.code) ?? 0
    const isKnown = found.get(name)?.effect === 'block' || (found.has(name) && effect !== 'block')
    if (isKnown || (count >= perRuleMax && effect !== 'block')) continue
    counts.set(hit.code, count + 1)
    const excerpt = excerptAt(text, hit.at)
    found.set(name, {
      code: hit.code,
      effect,
      file: path,
      line,
      excerpt,
      help: hit.help ?? rule.help,
    })
  }
  return [...found.values()]
}

const isBlock = ({ effect }: PackFinding): number => (effect === 'block' ? 1 : 0)

/** Orders findings: blocking ones first, then by file and line; at most 50. */
export function toPackScan(findings: PackFinding[]): PackScan {
  const ordered = findings.toSorted((a, b) => isBlock(b) - isBlock(a))
  const first = ordered[0]?.effect
  return {
    rules: packRulesVersion,
    verdict: first === 'block' ? 'block' : first ? 'warn' : 'clean',
    listable: first === undefined,
    findings: ordered.slice(0, findingsMax),
  }
}

/** Returns a function from offset to line. Offsets must ascend, so that the file is read once. */
function lines(text: string): (at: number) => number {
  let line = 1
  let next = text.indexOf('\n')
  return (at) => {
    while (next !== -1 && next < at) {
      line++
      next = text.indexOf('\n', next + 1)
    }
    return line
  }
}

/** Returns the text at an offset in one line. Invisible characters are shown by their code. */
function excerptAt(text: string, at: number): string {
  const plain = maskSecrets(text.slice(at, at + windowMax))
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cf}\p{Cc}\u115f\u3164\uffa0\u{e0000}-\u{e01ef}]/gu, showCode)
    .trim()
  return plain.length > excerptMax ? `${plain.slice(0, excerptMax - 1)}…` : plain
}

const showCode = (hidden: string): string =>
  `[U+${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`
