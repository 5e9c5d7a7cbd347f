/**
 * `bun scripts/clients/connectors.ts`: the MCP package for Python signs in with OAuth. A person
 * connects it, it calls a tool and refreshes its token, and fails after the person revoked it. It
 * installs the pinned package with pip. Exits 1 if a step fails.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { recordOf } from '../../src/kernel/schema.ts'
import { minute } from '../../src/kernel/time.ts'
import { claimAgent, signUp } from '../../src/testing/fixtures/form-browser.ts'
import { startMcpTestServer } from '../../src/testing/fixtures/mcp-server.ts'
import { approveAt, revokeFirst } from '../../src/testing/fixtures/oauth-client.ts'
import { installMs, makeHome, spawn } from './agent.ts'

const clientPackage = 'mcp==2.3.0'
const program = join(import.meta.dir, 'programs/connect.py')

const home = makeHome()
const t = await startMcpTestServer()
try {
  await spawn(['python3', '-m', 'venv', 'env'], home)
  await spawn([join(home, 'env/bin/pip'), 'install', '-q', clientPackage], home, {}, installMs)
  const { host } = new URL(t.url)
  const [ann, browser] = [await t.agent('ann'), await signUp(t, 'olga', undefined, { host })]
  await claimAgent(browser, ann)
  const command = [join(home, 'env/bin/python'), program, `${t.url}/connect`]
  const client = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
  const write = (line: string): unknown => client.stdin.write(`${line}\n`)
  const steps = [() => write('get_me'), refresh, revoke]

  function refresh(): unknown {
    t.clock.advance(minute)
    return write('expire\nget_me')
  }
  async function revoke(): Promise<void> {
    const headers = { cookie: `berth=${browser.cookie()}` }
    const listed = await t.call('GET', '/people/me/connectors', { headers })
    const [created, used] = ['created', 'used'].map((name) => listed.text(`connectors.0.${name}`))
    if (created === used) throw new Error('The client did not refresh its token.')
    await revokeFirst(browser)
    write('get_me')
  }

  let replies = 0
  for await (const line of lines(client.stdout)) {
    const { page, result } = recordOf(JSON.parse(line))
    if (typeof page === 'string') {
      // Only the first page is approved: the client opens another after it was revoked.
      if (replies > 0) break
      write((await approveAt(browser, page, ann.handle)).href)
      continue
    }
    if (JSON.stringify(result ?? {}).includes(`"handle":"${ann.handle}"`)) replies += 1
    await steps.shift()?.()
  }
  client.kill()
  if (replies !== 2) throw new Error(`Two calls must succeed, and ${replies} did.`)
  console.log(`passed: ${clientPackage}`)
} finally {
  await t.close()
  rmSync(home, { recursive: true, force: true })
}
process.exit()

async function* lines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const all = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = all.pop() ?? ''
    yield* all
  }
}
