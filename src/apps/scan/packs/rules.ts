import { maskSecrets } from '../secret-patterns.ts'
import type { PackFile } from './statements.ts'

/**
 * Version of the safety check of packs. Raise it with every change of its findings: packs of
 * earlier versions are then scanned again.
 */
export const packRulesVersion = 3

/** Effect of a finding: `block` is not published, `unlist` is published but not on Explore. */
type PackEffect = 'block' | 'unlist'

/**
 * Rules of the safety check of packs (docs/spec/packs-and-runs.md, "Packs"): the code, its effect,
 * a sentence for the docs, and how to fix it. A command that the text quotes as a warning has the
 * effect `unlist` instead of `block`.
 */
export const PACK_RULES = [
  {
    code: 'pack.override',
    effect: 'block',
    description: 'Tells the reading agent to ignore its instructions, or imitates system messages.',
    help:
      'Remove the sentence. A pack adds instructions to those of the user and never replaces ' +
      'them.',
  },
  {
    code: 'pack.exfiltration',
    effect: 'block',
    description: 'Sends keys, credentials, private files or conversations to another host.',
    help:
      'Remove the transfer. A pack must not move keys, private files or conversations off the ' +
      'machine of its user.',
  },
  {
    code: 'pack.reverse_shell',
    effect: 'block',
    description: 'Opens a shell that another host controls.',
    help: 'Remove the command.',
  },
  {
    code: 'pack.encoded_command',
    effect: 'block',
    description: 'Encoded text that decodes to commands or instructions, or that is executed.',
    help: 'Write the command as plain text, so that readers can check it.',
  },
  {
    code: 'pack.destructive',
    effect: 'block',
    description: 'Deletes or overwrites a home folder, a system folder or a whole disk.',
    help: 'Name the exact folder that the pack created, and delete only that.',
  },
  {
    code: 'pack.wallet',
    effect: 'block',
    description: 'Asks for a recovery phrase or a private key, or moves funds to a fixed address.',
    help: 'Remove the request. A pack never needs a recovery phrase or a private key of its user.',
  },
  {
    code: 'secret.leak',
    effect: 'block',
    description: 'A private key or an API key that looks live.',
    help:
      'Remove the key and revoke it where it was issued: anyone can read a published pack. Name ' +
      'an environment variable instead.',
  },
  {
    code: 'pack.hidden_text',
    effect: 'unlist',
    description:
      'Invisible characters, characters that reverse the order of text, or text that is hidden ' +
      'by its style or far out of view. Invisible messages are blocked.',
    help: 'Remove the invisible characters. Every instruction must be visible to its readers.',
  },
  {
    code: 'pack.hidden_comment',
    effect: 'unlist',
    description:
      'A comment, invisible when rendered, with instructions. Dangerous ones are blocked.',
    help: 'Move the instructions into the visible text, or remove the comment.',
  },
  {
    code: 'pack.concealment',
    effect: 'unlist',
    description: 'Tells the agent to hide what it does from its user.',
    help: 'Remove the sentence. Users may see everything that a pack does.',
  },
  {
    code: 'pack.remote_code',
    effect: 'unlist',
    description:
      'Downloads a program and runs it, such as `curl ... | sh`. Well-known installers are ' +
      'exempt; IP addresses, plain HTTP and paste sites are blocked.',
    help: 'Install from a package registry, or include the script in the pack.',
  },
  {
    code: 'pack.remote_instructions',
    effect: 'unlist',
    description: 'Loads further instructions from another host, which can change at any time.',
    help: 'Include the instructions in the pack, so that its versions and this check cover them.',
  },
  {
    code: 'pack.credentials',
    effect: 'unlist',
    description: 'Reads private keys, credential files, browser cookies or password stores.',
    help: 'Ask for the one value that the pack needs, as an environment variable.',
  },
  {
    code: 'pack.persistence',
    effect: 'unlist',
    description:
      'Changes what runs or applies later: authorized keys, scheduled jobs, shell profiles, ' +
      'hooks, or the memory of the agent.',
    help: 'Remove the change, or describe it so that users can make it themselves.',
  },
  {
    code: 'pack.protection_off',
    effect: 'unlist',
    description: 'Switches off permission prompts, sandboxes, certificate checks or virus scans.',
    help: 'Remove the option. Users decide about the protection of their machine.',
  },
  {
    code: 'pack.text_policy',
    effect: 'unlist',
    description: 'Slurs.',
    help: 'Change the words in the excerpt.',
  },
  {
    code: 'pack.too_dense',
    effect: 'unlist',
    description: 'More commands or encoded text than the check reads.',
    help: 'Publish a smaller pack.',
  },
] as const satisfies readonly {
  code: string
  effect: PackEffect
  description: string
  help: string
}[]

type PackRuleCode = (typeof PACK_RULES)[number]['code']

export function getPackRule(code: PackRuleCode): (typeof PACK_RULES)[number] {
  const rule = PACK_RULES.find((row) => row.code === code)
  if (!rule) throw new Error(`no rule ${code}`)
  return rule
}

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
