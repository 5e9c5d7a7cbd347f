/**
 * `bun scripts/soak/versions.ts [commit] [seconds] [seed]`: two servers of an older commit, then
 * one of it beside one of this source, then two of this source, on one PostgreSQL database and one
 * bucket, while the journeys of both APIs run through nginx. Default: the commit before the newest
 * migration, 30 seconds for each pair. Nothing acknowledged may be lost. Then a server of the older
 * commit must not start on the newer schema. Needs git, and Debian's packages postgresql, swift-*
 * and nginx-light.
 */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { randomBelow } from '../../src/kernel/ids.ts'
import { stopwatch } from '../../src/kernel/time.ts'
import { seeded } from '../../src/testing/fixtures/random.ts'
import { temporaryFolder } from '../../src/testing/fixtures/temporary-folder.ts'
import { checkClients, createClients, runJourneys } from '../../src/testing/replicas/journeys.ts'
import { startSystem } from '../../src/testing/replicas/system.ts'

const root = join(import.meta.dir, '../..')
const seconds = Number(Bun.argv[3] ?? 30)
const seed = Number(Bun.argv[4] ?? randomBelow(2 ** 32))

async function run(command: string[], cwd = root): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${out}${err}`)
  return out.trim()
}

const beforeMigration = async (): Promise<string> =>
  `${await run(['git', 'log', '-1', '--format=%H', '--', 'postgres/*.sql'])}^`

const commit = await run(['git', 'rev-parse', '--short', Bun.argv[2] ?? (await beforeMigration())])
const folder = temporaryFolder('berth-versions-')
const older = join(folder.path, commit)
await run(['git', 'worktree', 'add', '--detach', older, commit])
const draw = seeded(seed)
try {
  symlinkSync(join(root, 'node_modules'), join(older, 'node_modules'))
  await run([process.execPath, 'scripts/build-public.ts'], older)
  console.log(`versions: ${commit} and this source, seed ${seed}`)
  const { r, front, close } = await startSystem(2, older)
  const schemas = async () => (await r.sql`select count(*)::int as n from schema_migrations`)[0]?.n
  const before: unknown = await schemas()
  try {
    const clients = await createClients(r, 3)
    const pair = async (name: string): Promise<void> => {
      const end = stopwatch() + seconds * 1_000
      await Promise.all(clients.map((client) => runJourneys(front, draw, client, end, name)))
      const calls = clients.reduce((sum, one) => sum + one.calls, 0)
      console.log(`versions: ${name}: ${calls} calls so far`)
    }
    const upgrade = async (index: number): Promise<void> => {
      r.servers[index]?.kill('SIGTERM')
      await r.servers[index]?.exited
      await r.start(index, root)
    }
    await pair('old-old')
    await upgrade(0)
    await pair('new-old')
    await upgrade(1)
    await pair('new-new')
    await checkClients(r, clients)
    const after: unknown = await schemas()
    console.log(`versions: schema ${String(before)}, then ${String(after)}; nothing was lost`)
    const started = await r.start(2, older).catch((error: unknown) => String(error))
    const isRejected = typeof started === 'string' && started.includes('supports schema')
    if (before !== after && !isRejected) throw new Error('An older server started.')
  } finally {
    await close()
  }
} finally {
  await run(['git', 'worktree', 'remove', '--force', older])
  folder.remove()
}
process.exit(0)
