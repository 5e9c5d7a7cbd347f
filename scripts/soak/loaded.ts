/**
 * `bun scripts/soak/loaded.ts [runs]`: runs `./scripts/test` while two other processes load the
 * processor, by default ten times. Prints one line per run: seconds, passed, failed, and the tests
 * that failed or were flaky; the whole output of run N is in loaded-N.log of the folder for
 * temporary files. Exits 1 when a run failed.
 */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const runs = Number(Bun.argv[2] ?? 10)
const busyProcesses = 2
const runMsMax = 7_200_000

/** Loads one core until it is killed, this process has ended, or a run cannot take longer. */
const busyLoop = `const parent = process.ppid
const end = performance.now() + ${runMsMax}
while (process.ppid === parent && performance.now() < end) {
  for (const until = performance.now() + 100; performance.now() < until;);
}`

const busy: Bun.Subprocess[] = []
const stopBusy = () => {
  for (const child of busy.splice(0)) child.kill('SIGKILL')
}
process.on('exit', stopBusy)
process.on('SIGINT', () => process.exit(1)).on('SIGTERM', () => process.exit(1))

/** Runs all checks once. Returns the line of the run, and whether all passed. */
async function run(at: number): Promise<{ line: string; passed: boolean }> {
  const startedAt = performance.now()
  const path = join(tmpdir(), `loaded-${at}.log`)
  const log = openSync(path, 'w')
  const child = Bun.spawn(['./scripts/test'], {
    cwd: root,
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    timeout: runMsMax,
  })
  const isOk = (await child.exited) === 0
  closeSync(log)
  const output = readFileSync(path, 'utf8')
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(output) ?? []
  if (passed === undefined) return { line: `${seconds} s, ended without a result`, passed: false }
  // The summary of scripts/check/run.ts: places of failed tests, and steps that passed alone.
  const places = [...output.matchAll(/^ +(src\/\S+:\d+|flaky {2}.*)$/gm)].map(([, text]) => text)
  const line = [`${seconds} s, ${passed} passed, ${failed} failed`, ...places].join('; ')
  return { line, passed: isOk }
}

let failedRuns = 0
for (let at = 1; at <= runs; at += 1) {
  for (let core = 0; core < busyProcesses; core += 1) {
    busy.push(
      Bun.spawn([process.execPath, '-e', busyLoop], { stdio: ['ignore', 'ignore', 'ignore'] }),
    )
  }
  const { line, passed } = await run(at)
  stopBusy()
  if (!passed) failedRuns += 1
  console.log(`loaded ${at}/${runs}: ${line}`)
}
process.exit(failedRuns === 0 ? 0 : 1)
