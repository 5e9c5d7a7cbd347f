/** Serves from source and restarts after every change: see scripts/dev. */
import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'

import { publishSamples, sampleNames } from '../src/server/cli/serve.ts'
import { buildPublic, isPublicFresh } from './build-public.ts'

const root = join(import.meta.dir, '..')
const dataDir = process.env.DATA_DIR ?? join(root, 'dist/dev')
/** Editors write several files at once; the restart waits for all of them. */
const settleMs = 30
const isNew = !existsSync(dataDir)

type Server = ReturnType<typeof start>

function start() {
  const command = [process.execPath, 'src/main.ts', 'serve', '--data', dataDir, '--json']
  return Bun.spawn([...command, ...Bun.argv.slice(2)], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
}

/** Returns the addresses of the server; undefined where it ended before it was ready. */
async function ready(server: Server): Promise<Record<string, string> | undefined> {
  const { value } = await server.stdout.getReader().read()
  return value && JSON.parse(new TextDecoder().decode(value))
}

if (!(await isPublicFresh())) await buildPublic()
let server = start()
const first = await ready(server)
if (!first) process.exit(1)
if (isNew) await publishSamples(first.baseUrl ?? '', sampleNames)
console.log(`Berth is running at ${first.appUrl} and restarts after every change.`)
if (first.operatorUrl)
  console.log(`Operator: ${first.operatorUrl} (creates your account; works once)`)

async function restart(): Promise<void> {
  const startedAt = performance.now()
  server.kill('SIGKILL')
  await server.exited
  if (!(await isPublicFresh())) await buildPublic()
  server = start()
  if (!(await ready(server))) return
  console.log(`Restarted in ${Math.round(performance.now() - startedAt)} ms.`)
}

let timer: Timer | undefined
let restarting = Promise.resolve()
for (const folder of ['src', 'public']) {
  watch(join(root, folder), { recursive: true }, (_, name) => {
    if (folder === 'public' && name?.startsWith('dist')) return
    clearTimeout(timer)
    timer = setTimeout(() => (restarting = restarting.then(restart)), settleMs)
  })
}
process.on('SIGINT', () => {
  server.kill()
  process.exit(0)
})
