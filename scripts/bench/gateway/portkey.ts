/**
 * npm's `@portkey-ai/gateway` on Node, installed in a temporary folder: 25 MB that only this
 * comparison needs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { BenchServer } from '../load/served.ts'

const server = { '@hono/node-server': '1.13.8' }
const manifest = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2', ...server },
  overrides: server,
}

/** Returns undefined, with a line on stderr, if npm cannot install it. */
export async function servePortkey(): Promise<BenchServer | undefined> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-portkey-'))
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  const install = ['npm', 'install', '--silent', '--no-audit', '--no-fund']
  if (Bun.spawnSync(install, { cwd: dir }).exitCode !== 0) {
    console.error('npm could not install @portkey-ai/gateway. Its row is skipped.')
    rmSync(dir, { recursive: true })
    return undefined
  }
  const free = Bun.serve({ port: 0, fetch: () => new Response() })
  const port = Number(free.port)
  await free.stop(true)
  const start = 'node_modules/@portkey-ai/gateway/build/start-server.js'
  const child = Bun.spawn(['node', start, `--port=${port}`, '--headless'], {
    cwd: dir,
    env: { PATH: Bun.env.PATH, TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const isUp = () => fetch(`http://127.0.0.1:${port}/`).then(Boolean, () => false)
  for (let tries = 0; tries < 100 && !(await isUp()); tries += 1) await Bun.sleep(100)
  return {
    port,
    readyLine: '',
    pid: child.pid,
    stop: async () => {
      child.kill()
      await child.exited
      rmSync(dir, { recursive: true })
    },
  }
}
