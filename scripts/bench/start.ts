import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { rssKib } from '../../src/testing/processes/server-process.ts'
import { median } from './load/load.ts'
import { spawnServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const root = join(import.meta.dir, '../..')
const rounds = 11
const idleMs = 1_500

/** Builds the binary if it is out of date, and the peer with the same flags. */
function build(hello: string): void {
  const flags =
    '--compile --minify --bytecode --format=esm --sourcemap ' +
    '--no-compile-autoload-dotenv --no-compile-autoload-bunfig'
  const bun = [process.execPath, 'build', ...flags.split(' ')]
  const peer = [...bun, join(import.meta.dir, 'peers/hello.ts'), '--outfile', hello]
  for (const command of [['./scripts/build', '--if-needed'], peer]) {
    const { exitCode, stderr } = Bun.spawnSync(command, { cwd: root, stderr: 'pipe' })
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
}

export interface Start {
  ms: number
  rssMb: number
}

/**
 * Returns the time from process start to the first response in milliseconds, and the idle memory.
 */
export async function start(
  command: string[],
  env: Record<string, string>,
  idle: boolean,
): Promise<Start> {
  const began = performance.now()
  const served = await spawnServer(command, env)
  await (await fetch(`http://127.0.0.1:${served.port}/healthz`)).text()
  const ms = performance.now() - began
  if (idle) await Bun.sleep(idleMs)
  const rssMb = rssKib(served.pid) / 1_024
  await served.stop()
  return { ms, rssMb }
}

/** Measures cold start and idle memory beside the smallest binary, whose start is paired. */
export async function measureStarts(): Promise<BenchRow[]> {
  const { ours, peer } = await startBoth()
  const ms = (all: Start[]): number => median(all.map((one) => one.ms))
  const name = `cold start to the first response (hello-world Elysia binary: ${ms(peer).toFixed(0)} ms)`
  return [atMost(name, ms(ours), 60, 'ms')]
}

export async function bench(): Promise<BenchRow[]> {
  const { ours, peer } = await startBoth()
  const rss = (all: Start[]): number => median(all.slice(-3).map(({ rssMb }) => rssMb))
  const sizes = `${rss(ours).toFixed(0)} MB vs. ${rss(peer).toFixed(0)} MB`
  const name = `idle memory, vs. a hello-world Elysia binary (${sizes})`
  return [atMost(name, rss(ours) / rss(peer), 2)]
}

async function startBoth(): Promise<{ ours: Start[]; peer: Start[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const hello = join(dir, 'hello')
  build(hello)
  const ctx = [join(root, 'dist/berth'), 'serve', '--json']
  const env = { PORT: '0', DATA_DIR: join(dir, 'data') }
  const ours: Start[] = []
  const peer: Start[] = []
  for (let round = -1; round < rounds; round += 1) {
    const idle = round >= rounds - 3
    const [one, other] = [await start(ctx, env, idle), await start([hello], {}, idle)]
    // The first round creates the data folder and warms the disk cache.
    if (round >= 0) (ours.push(one), peer.push(other))
  }
  rmSync(dir, { recursive: true })
  return { ours, peer }
}
