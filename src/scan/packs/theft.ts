import { readConcealment } from './concealment.ts'
import type { PackHit } from './findings.ts'
import { bitsOf, readSignals } from './signals.ts'
import type { Statement } from './statements.ts'
import { type Command, judgeCommand, startBlock } from './theft-code.ts'
import { judgeSentence } from './theft-prose.ts'
import type { Worth } from './worth.ts'

/** Statements in which an act, its object, its destination and its concealment belong together. */
const nearMax = 5

const network = bitsOf('network')
const described = /\b(?:flag|detect|malicious|suspicious|attack|injection|red flag)/
const comment = /^\s?(?:#|\/\/|--|;|rem\b|\*|"""|\/\*)/

/** Reads and transfers of sensitive things, and orders to hide acts. Statements of one file. */
export function theft(): (statement: Statement) => Iterable<PackHit> {
  let count = 0
  let block = startBlock(-1)
  let act: { count: number; worth: Worth; isTaken: boolean } | undefined
  let hidden = -Infinity
  let addressed = -Infinity
  return function* (statement) {
    count++
    const { at, text, paths, isCode, isWarning } = statement
    const signals = readSignals(paths)
    if (block.number !== statement.block) block = startBlock(statement.block)
    const commands = isCode
      ? [judgeCommand(signals, text, block, count)]
      : (signals.classes & network) !== 0
        ? judgeSpans(paths)
        : []
    const before =
      act && count - act.count <= nearMax
        ? { ...act, isRecent: act.isTaken || count - act.count === 1 }
        : undefined
    const isProse = !isCode || comment.test(text)
    const sentence = isProse ? judgeSentence(signals, before, count - addressed <= 2) : undefined
    const conceals = readConcealment(signals)
    const isRead = commands.some(({ reads }) => reads)
    const effect = commands.reduce((all, { effect }) => worse(all, effect), sentence?.effect)
    const reads = isRead || sentence?.reads
    const taken = isRead ? 2 : sentence?.taken
    if (taken !== undefined) act = { count, worth: taken, isTaken: true }
    else if (sentence?.named === 2 && !before?.isTaken) act = { count, worth: 2, isTaken: false }
    if (conceals) hidden = count
    if (sentence?.isAddressed) addressed = count
    const isHidden = count - hidden <= nearMax && !sentence?.isReport
    if (effect) {
      const isQuoted = isWarning && !sentence?.effect
      yield {
        code: 'pack.exfiltration',
        at,
        effect: isQuoted ? 'unlist' : isHidden ? 'block' : effect,
      }
    } else if (reads)
      yield isHidden
        ? { code: 'pack.credentials', at, effect: 'block' }
        : { code: 'pack.credentials', at }
    if (conceals === 'certain' && !(isWarning && described.test(text)))
      yield before?.isTaken && before.worth > 0
        ? { code: 'pack.concealment', at, effect: 'block' }
        : { code: 'pack.concealment', at }
  }
}

/** Judges the code that a sentence marks, or all of it if none is marked. */
function judgeSpans(text: string): Command[] {
  const block = startBlock(-1)
  const spans = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  return (spans.length > 0 ? spans : [text]).map((code) =>
    judgeCommand(readSignals(code), code, block, 0),
  )
}

type Effect = 'block' | 'unlist' | undefined

const worse = (a: Effect, b: Effect): Effect =>
  a === 'block' || b === 'block' ? 'block' : (a ?? b)
