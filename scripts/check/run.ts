import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const reports = join(root, 'dist/reports')
const stepMsMax = 1_800_000
/** The files of a step whose times are printed. */
const slowestMax = 5
/** More failures than these are no accident of a busy machine. */
const failuresRepeatedMax = 10

interface Outcome {
  passed: number
  failed: number
  skipped: number
  /** CPU time of the processes of the run, to tell work from waiting. */
  cpuSeconds?: number
  /** The failed tests: "src/a.test.ts:12". */
  places?: string[]
  /** The files that took longest, and their seconds. */
  slowest?: [file: string, seconds: number][]
  /** Runs the files of the failed tests again, when the machine does nothing else. */
  runAlone?: () => Promise<Outcome>
}

/** A check, which counts as one test, or a test run with its counts. */
export type Step = [name: string, run: () => Promise<boolean | Outcome>]

const inSeconds = (seconds: number): string => `${seconds.toFixed(1).padStart(6)} s`

/** Runs a command with its output on this process's. Returns whether it exited with 0. */
export async function succeeds(
  command: string[],
  env: Record<string, string> = {},
): Promise<boolean> {
  return (await runCommand(command, env)).exitCode === 0
}

async function runCommand(command: string[], env: Record<string, string>) {
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...Bun.env, ...env },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    timeout: stepMsMax,
  })
  const exitCode = await child.exited
  return { exitCode, cpuSeconds: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6 }
}

export const bun = (...args: string[]): Promise<boolean> => succeeds([process.execPath, ...args])

/**
 * Tests run most code a few times: its last optimization took a quarter of the CPU time. Memory
 * that is returned to the system and requested again took a tenth.
 */
const lessWork = { BUN_JSC_useFTLJIT: '0', MIMALLOC_PURGE_DELAY: '10000' }

const samples = 20
const sampleMs = 100
const waitsMax = 300
/** Time until the processes of a run have started. */
const startMs = 10_000

let runs = 0
let turn = Promise.resolve()

/** Starts one run at a time, when the machine is calm. */
async function takeTurn(): Promise<void> {
  const calm = turn.then(untilCalm)
  turn = calm.then(() => Bun.sleep(startMs))
  await calm
}

/**
 * Waits beside another run, ten minutes at most, until fewer than four processes a core want to
 * run. On a slow machine more of them only delay each other, until tests reach their limits.
 */
async function untilCalm(): Promise<void> {
  for (let waits = 0; waits < waitsMax && runs > 0; waits += 1) {
    let running = 0
    for (let at = 0; at < samples; at += 1) {
      running += readRunning() / samples
      await Bun.sleep(sampleMs)
    }
    if (running < 4 * availableParallelism()) return
  }
}

/** Returns the number of processes that want to run now; 0 where the system does not tell. */
function readRunning(): number {
  const file = '/proc/loadavg'
  return existsSync(file) ? Number(/ (\d+)\//.exec(readFileSync(file, 'utf8'))?.[1]) : 0
}

/** Runs tests and reads their counts from a junit report. Without a report the run failed. */
export async function runTests(
  name: string,
  args: string[],
  wrapper: string[] = [],
): Promise<Outcome> {
  const report = join(reports, `${name}.xml`)
  const flags = ['--reporter=junit', `--reporter-outfile=${report}`, '--timeout=60000']
  const command = [...wrapper, process.execPath, 'test', ...flags, ...args]
  await takeTurn()
  runs += 1
  const { exitCode, cpuSeconds } = await runCommand(command, { DATABASE_URL: '', ...lessWork })
  runs -= 1
  const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const suites = /<testsuites [^>]*>/.exec(text)?.[0] ?? ''
  const count = (key: string) => Number(new RegExp(` ${key}="(\\d+)"`).exec(suites)?.[1] ?? 0)
  const [all, failures, skipped] = [count('tests'), count('failures'), count('skipped')]
  const failed = Math.max(failures, exitCode === 0 ? 0 : 1)
  const cases = [...text.matchAll(/ file="([^"]+)" line="(\d+)"[^>]*[^/]>\s*<failure/g)]
  const places = cases.map(([, file, line]) => `${file}:${line}`)
  const files = [...new Set(cases.map(([, file = '']) => file))]
  const times = [...text.matchAll(/<testsuite name="(src\/[^"]+)"[^>]* time="([\d.]+)"/g)]
  const slowest = times
    .map(([, file = '', seconds]): [string, number] => [file, Number(seconds)])
    .toSorted(([, one], [, other]) => other - one)
  const isKnown = places.length === failed && places.length <= failuresRepeatedMax
  return {
    passed: Math.max(0, all - skipped - failures),
    failed,
    skipped,
    cpuSeconds,
    places,
    slowest: slowest.slice(0, slowestMax),
    ...(isKnown && { runAlone: () => runTests(`${name}-alone`, files, wrapper) }),
  }
}

/**
 * Runs groups one after the other, the sequences of a group side by side, and the steps of a
 * sequence one after the other. The files of up to ten failed tests run again at the end: a test
 * that passes then depends on an idle machine, and is printed as flaky. Prints the time of each
 * step and of its slowest files and, as the last line, "N passed, N failed". Returns whether all
 * passed.
 */
export async function runSteps(groups: Step[][][]): Promise<boolean> {
  rmSync(reports, { recursive: true, force: true })
  mkdirSync(reports, { recursive: true })
  const total = { passed: 0, failed: 0, skipped: 0 }
  const lines: string[] = []
  const repeats: { name: string; outcome: Outcome; runAlone: () => Promise<Outcome> }[] = []
  const runStep = async ([name, run]: Step): Promise<void> => {
    console.log(`\n== ${name}`)
    const startedAt = performance.now()
    const result = await run().catch((error: unknown) => {
      console.log(String(error))
      return false
    })
    const outcome: Outcome =
      typeof result === 'boolean'
        ? { passed: result ? 1 : 0, failed: result ? 0 : 1, skipped: 0 }
        : result
    total.passed += outcome.passed
    total.failed += outcome.failed
    total.skipped += outcome.skipped
    const seconds = (performance.now() - startedAt) / 1000
    const failures = outcome.failed > 0 ? `: ${outcome.failed} failed` : ''
    const cpu = outcome.cpuSeconds ? ` (${outcome.cpuSeconds.toFixed(0)} s of CPU)` : ''
    lines.push(`${inSeconds(seconds)}  ${name}${cpu}${failures}`)
    for (const place of outcome.places ?? []) lines.push(`            ${place}`)
    for (const [file, time] of outcome.slowest ?? []) lines.push(`    ${inSeconds(time)}  ${file}`)
    const { failed, runAlone } = outcome
    if (failed > 0 && runAlone) repeats.push({ name, outcome, runAlone })
  }
  const runSequence = async (steps: Step[]): Promise<void> => {
    for (const step of steps) await runStep(step)
  }
  for (const group of groups) await Promise.all(group.map(runSequence))
  for (const { name, outcome, runAlone } of repeats) {
    console.log(`\n== ${name}: the files of failed tests again`)
    if ((await runAlone()).failed > 0) continue
    total.failed -= outcome.failed
    total.passed += outcome.failed
    lines.push(`  flaky  ${name}: ${outcome.failed} failed first and passed alone`)
  }
  console.log(`\n${lines.join('\n')}`)
  if (total.skipped > 0) console.log(`${total.skipped} skipped`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0
}
