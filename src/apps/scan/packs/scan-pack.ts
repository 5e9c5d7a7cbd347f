import { findSlur } from '../../../kernel/forbidden-text.ts'
import { findSecrets } from '../secret-patterns.ts'
import { destructive, persistence, protectionOff, remoteCode, reverseShell } from './commands.ts'
import { decodedRuns, decodedTexts, hiddenCharacters, hiddenComments, outOfView } from './hidden.ts'
import { override, remoteInstructions, wallet } from './orders.ts'
import { getPackRule, type PackHit, type PackScan, toFindings, toPackScan } from './rules.ts'
import { type PackFile, readStatements, type Statement } from './statements.ts'
import { theft } from './theft.ts'

/** Statements of one pack. More make it `pack.too_dense`. */
const statementsMax = 12_000
const hitsMax = 2_000
const hiddenMax = 4_000
/** Statements between two turns of the event loop: about 2 ms. */
const turnLength = 20

/** Yields the findings of a statement. */
type StatementRule = (statement: Statement) => Iterable<PackHit>

/** Rules that match regular expressions. Each match has a term of the cues in signals.ts. */
export const statementRules: readonly StatementRule[] = [
  override,
  remoteInstructions,
  wallet,
  remoteCode,
  reverseShell,
  decodedRuns,
  destructive,
  persistence,
  protectionOff,
]

/**
 * Scans the text files of a pack (docs/spec/packs-and-runs.md, "Packs"). Linear in their length and
 * bounded; never throws. Returns to the event loop every few milliseconds.
 */
export async function scanPack(files: readonly PackFile[]): Promise<PackScan> {
  const budget = { statements: statementsMax }
  const findings = []
  for (const file of files) {
    const hits: PackHit[] = []
    for (const found of scanFile(file, budget)) {
      if (found !== 'turn') hits.push(found)
      else await new Promise((resolve) => setImmediate(resolve))
      if (hits.length >= hitsMax) break
    }
    findings.push(...toFindings(file, hits))
  }
  return toPackScan(findings)
}

interface Budget {
  statements: number
}

/** Yields the hits of a file, and `turn` where others may run. */
function* scanFile(file: PackFile, budget: Budget): Generator<PackHit | 'turn'> {
  yield* hiddenCharacters(file)
  yield* outOfView(file)
  for (const { name, at } of findSecrets(file.text))
    yield {
      code: 'secret.leak',
      at,
      help: `This looks like a live ${name}. ${getPackRule('secret.leak').help}`,
    }
  const slur = findSlur(file.text)
  if (slur !== undefined) yield { code: 'pack.text_policy', at: slur }
  yield 'turn'
  yield* scanComments(file)
  yield* scanDecoded(file)
  yield 'turn'
  const findTheft = theft()
  for (const statement of readStatements(file)) {
    if (statement === 'turn') {
      yield statement
      continue
    }
    if (budget.statements-- <= 0) return yield { code: 'pack.too_dense', at: statement.at }
    yield* judgeStatement(statement, findTheft)
    if (budget.statements % turnLength === 0) yield 'turn'
  }
}

/** Judges comments: instructions in them are kept off Explore, dangerous ones are blocked. */
function* scanComments(file: PackFile): Generator<PackHit | 'turn'> {
  for (const { at, text, isAddressed } of hiddenComments(file)) {
    yield 'turn'
    const isDangerous = judge(text).length > 0
    if (isDangerous || isAddressed)
      yield { code: 'pack.hidden_comment', at, effect: isDangerous ? 'block' : 'unlist' }
  }
}

function* scanDecoded(file: PackFile): Generator<PackHit | 'turn'> {
  const texts = decodedTexts(file)
  for (let next = texts.next(); ; next = texts.next()) {
    if (next.done) return next.value ? undefined : yield { code: 'pack.too_dense', at: 0 }
    yield 'turn'
    const { at, text, isDangerous } = next.value
    if (isDangerous || judge(text).length > 0)
      yield { code: 'pack.encoded_command', at, effect: 'block' }
  }
}

/** Applies the rules for statements to a text that readers do not see. */
function judge(text: string): PackHit[] {
  const findTheft = theft()
  const statements = [...readStatements({ path: 'hidden.md', text: text.slice(0, hiddenMax) })]
  return statements.flatMap((statement) =>
    statement === 'turn' ? [] : [...judgeStatement(statement, findTheft)],
  )
}

function* judgeStatement(statement: Statement, findTheft: StatementRule): Generator<PackHit> {
  if (statement.hasCue) for (const rule of statementRules) yield* rule(statement)
  yield* findTheft(statement)
}
