/**
 * `bun scripts/soak/mutations.ts [name ...]`: plants each fault of mutants.ts in a copy of the
 * checkout, one at a time, and runs the tests that must fail then. Prints one line per fault. Names
 * select faults by their start, such as "ledger". Exits 1 when a fault survives or no longer
 * matches its file, and when the tests fail without a fault.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { type Mutant, mutants } from './mutants.ts'

const root = join(import.meta.dir, '../..')
/** A fault whose tests run longer is caught: CI has a limit as well. */
const runMsMax = 600_000

const names = Bun.argv.slice(2)
const isSelected = ({ name }: Mutant): boolean =>
  names.length === 0 || names.some((start) => name.startsWith(start))
const selected = mutants.filter(isSelected)
if (selected.length === 0) throw new Error(`No fault has a name that starts with ${names}.`)

/** Copies the files of the checkout, with changes that are not committed, and links packages. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'berth-mutations-'))
  const list = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard', '-z'], { cwd: root })
  for (const path of list.stdout.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path), { force: true })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

interface TestRun {
  passed: boolean
  /** The first test that failed, or why there is none. */
  failure: string
}

/** Runs the tests of a fault. src/testing/preload.ts builds public/dist again when it is stale. */
async function runTests(copy: string, { tests, only, on }: Mutant): Promise<TestRun> {
  const wrapper = on === 'postgres' ? [process.execPath, 'src/testing/postgres.ts'] : []
  const filter = only === undefined ? [] : ['-t', only]
  const child = Bun.spawn(
    [...wrapper, process.execPath, 'test', '--timeout=60000', '--bail', ...filter, ...tests],
    {
      cwd: copy,
      env: { ...Bun.env, DATABASE_URL: '', TESTS: '' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
      timeout: runMsMax,
    },
  )
  const output = await new Response(child.stderr).text()
  const passed = (await child.exited) === 0
  const [, failed] = /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/m.exec(output) ?? []
  const [, problem] = /^(?:error|\w*Error): (.*)$/m.exec(output) ?? []
  return { passed, failure: failed ?? problem ?? 'the time limit' }
}

const setOf = ({ tests, only, on }: Mutant): string => [...tests, only, on].join(' ')

/** Returns why a fault cannot be planted in a text; undefined when it can. */
function problemOf({ file, from, to }: Mutant, text: string): string | undefined {
  const places = text.split(from).length - 1
  if (places !== 1) return `its text is ${places} times in ${file}`
  try {
    new Bun.Transpiler({ loader: 'ts' }).scan(text.replace(from, () => to))
    return undefined
  } catch (error) {
    return `it is not valid TypeScript: ${error}`
  }
}

/** Plants one fault, runs its tests, and restores the file. Returns its line. */
async function tryMutant(copy: string, mutant: Mutant): Promise<{ caught: boolean; line: string }> {
  const path = join(copy, mutant.file)
  const text = readFileSync(path, 'utf8')
  const problem = problemOf(mutant, text)
  if (problem !== undefined) return { caught: false, line: `NOT PLANTED: ${problem}` }
  await Bun.write(
    path,
    text.replace(mutant.from, () => mutant.to),
  )
  try {
    const { passed, failure } = await runTests(copy, mutant)
    if (passed) return { caught: false, line: `SURVIVED ${mutant.tests.join(' ')}` }
    return { caught: true, line: `caught by "${failure}"` }
  } finally {
    await Bun.write(path, text)
  }
}

const copy = copyCheckout()
const remove = () => rmSync(copy, { recursive: true, force: true })
process.on('SIGINT', () => process.exit(1)).on('SIGTERM', () => process.exit(1))
process.on('exit', remove)

/** Results of each set of tests without a fault. */
const sound = new Map<string, TestRun>()
let caught = 0
for (const mutant of selected) {
  const set = setOf(mutant)
  const before = sound.get(set) ?? (await runTests(copy, mutant))
  sound.set(set, before)
  const result = before.passed
    ? await tryMutant(copy, mutant)
    : { caught: false, line: `FAILS WITHOUT A FAULT: "${before.failure}"` }
  if (result.caught) caught += 1
  console.log(`${mutant.name}: ${result.line}`)
}
console.log(`${caught} caught, ${selected.length - caught} survived`)
process.exit(caught === selected.length ? 0 : 1)
