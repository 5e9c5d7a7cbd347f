/**
 * What `./scripts/test` and CI run, in order, each step with its time. A step that is no test run
 * counts as one check. The last line is "N passed, N failed"; the exit code says the same.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { installBrowsers } from './check/browsers.ts'

const root = join(import.meta.dir, '..')
const reports = join(root, 'dist/reports')
const stepMsMax = 900_000

interface Outcome {
  passed: number
  failed: number
  skipped: number
  /** Where the tests stand that failed: "src/a.test.ts:12". */
  places?: string[]
}

const outcomeOf = (ok: boolean): Outcome => ({
  passed: ok ? 1 : 0,
  failed: ok ? 0 : 1,
  skipped: 0,
})

/** Runs a command with its output on ours; answers whether it exited with 0. */
async function succeeds(command: string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = Bun.spawn(command, {
    cwd: root,
    env: { ...Bun.env, ...env },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    timeout: stepMsMax,
  })
  return (await child.exited) === 0
}

const bun = (...words: string[]) => succeeds([process.execPath, ...words])

/** Runs tests and counts them in their junit report: without one, all of it failed. */
async function tests(name: string, words: string[], under: string[] = []): Promise<Outcome> {
  const report = join(reports, `${name}.xml`)
  const flags = ['--reporter=junit', `--reporter-outfile=${report}`, '--timeout=60000']
  const command = [...under, process.execPath, 'test', ...flags, ...words]
  const ok = await succeeds(command, { DATABASE_URL: '' })
  const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const suites = /<testsuites [^>]*>/.exec(text)?.[0] ?? ''
  const count = (key: string) => Number(new RegExp(` ${key}="(\\d+)"`).exec(suites)?.[1] ?? 0)
  const [all, failures, skipped] = [count('tests'), count('failures'), count('skipped')]
  const failed = Math.max(failures, ok ? 0 : 1)
  const cases = text.matchAll(/ file="([^"]+)" line="(\d+)"[^>]*[^/]>\s*<failure/g)
  const places = [...cases].map(([, file, line]) => `${file}:${line}`)
  return { passed: Math.max(0, all - skipped - failures), failed, skipped, places }
}

/** Where tests drive real browsers; in hosted pages what came late would count as stopped. */
const driven = ['src/browser', 'src/web/browsing']
const hosted = ['src/testing/red-team', 'src/testing/compatibility']
const inBrowsers = [...driven, ...hosted]
const notIn = (folders: string[]) => folders.map((folder) => `--path-ignore-patterns=${folder}/**`)

/** What keeps rows, once more, beside a PostgreSQL server that lives as long as the tests. */
const onPostgres = () =>
  tests(
    'postgres',
    [
      ...notIn(inBrowsers),
      'src/db',
      'src/ledger',
      'src/hosting',
      'src/gateway',
      'src/models',
      'src/web',
      ...['bad-input', 'contract', 'openapi', 'properties', 'refusals'].map(
        (name) => `src/testing/${name}.test.ts`,
      ),
    ],
    [process.execPath, 'src/testing/postgres.ts'],
  )

/** Each of the long trials once, and briefly: a few rounds, a moment of many streams. */
const soak = async () =>
  (await bun('scripts/soak/kill.ts', '3')) && (await bun('scripts/soak/streams.ts'))

type Step = [name: string, run: () => Promise<boolean | Outcome>]

/** One after the other; the steps of one line side by side. */
const steps: Step[][] = [
  [['format', () => bun('fmt', '--check')]],
  [['types', () => bun('check')]],
  [['types of public', () => bun('check', '-p', 'public')]],
  [['tidy', () => bun('scripts/tidy.ts')]],
  [['settings', () => bun('scripts/settings.ts', '--check')]],
  [['migrations', () => bun('scripts/migrations.ts', '--check')]],
  [['build', () => succeeds(['./scripts/build'])]],
  [['browsers', () => installBrowsers(succeeds)]],
  [['tests on SQLite', () => tests('sqlite', ['--parallel=2', ...notIn(inBrowsers)])]],
  [
    // Each of them leaves a processor idle: PostgreSQL's by one process, these by waiting.
    ['tests on PostgreSQL', onPostgres],
    ['tests in browsers', () => tests('browsers', driven)],
  ],
  [['soak', soak]],
  // By itself: a browser that has to wait for the processor looks like one that was held.
  [['hosted pages in browsers', () => tests('hosted', hosted)]],
]

rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })
const total: Outcome = { passed: 0, failed: 0, skipped: 0 }
const lines: string[] = []

async function take([name, run]: Step): Promise<void> {
  console.log(`\n== ${name}`)
  const started = performance.now()
  const result = await run().catch((error: unknown) => {
    console.log(String(error))
    return false
  })
  const outcome = typeof result === 'boolean' ? outcomeOf(result) : result
  total.passed += outcome.passed
  total.failed += outcome.failed
  total.skipped += outcome.skipped
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6)
  lines.push(`${seconds} s  ${name}${outcome.failed > 0 ? `: ${outcome.failed} failed` : ''}`)
  for (const place of outcome.places ?? []) lines.push(`            ${place}`)
}

for (const together of steps) await Promise.all(together.map(take))

console.log(`\n${lines.join('\n')}`)
if (total.skipped > 0) console.log(`${total.skipped} skipped`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed === 0 ? 0 : 1)
