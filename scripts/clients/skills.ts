/**
 * `bun scripts/clients/skills.ts`: an installer of skills, which finds packs by Agent Skills
 * Discovery: 1.7.4 by version 0.2.0, at the root and of one maker, and 1.4.1 by version 0.1.0.
 * Throws where an installed file differs from the published one.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startClientServer } from '../../src/testing/clients/server.ts'
import { folder, skillText } from '../../src/testing/fixtures/folders.ts'
import { node } from '../../src/testing/fixtures/mcp-server.ts'
import { textAt } from '../../src/testing/processes/server-process.ts'
import { install, spawn } from './agent.ts'

const packs = [folder(), { files: [{ path: 'SKILL.md', text: skillText('one-file') }] }]
const names = ['release-notes', 'one-file']

async function call(origin: string, path: string, key = '', body: unknown = {}): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${origin}/api${path}`, {
    method: 'POST',
    headers: key === '' ? {} : headers,
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const home = mkdtempSync(join(tmpdir(), 'berth-skills-'))
const server = await startClientServer()
try {
  const [, origin = ''] = server.baseUrls
  const agent = await call(origin, '/keys')
  const key = textAt(agent, 'key')
  for (const pack of packs) await call(origin, '/skills', key, { ...pack, store: true })
  const maker = `${origin}/@${textAt(agent, 'agent.handle')}`
  const sources: [version: string, source: string][] = [
    ['1.7.4', origin],
    ['1.7.4', maker],
    ['1.4.1', origin],
  ]
  for (const [at, [version, source]] of sources.entries()) {
    const work = join(home, String(at))
    mkdirSync(work)
    await install(`skills@${version}`, home)
    const program = [node, join(home, 'node_modules/skills/bin/cli.mjs')]
    const words = ['add', source, '--yes', '--copy', '--skill', '*', '--agent', 'claude-code']
    await spawn([...program, ...words], work, { HOME: work, DISABLE_TELEMETRY: '1' })
    for (const [pack, { files }] of packs.entries()) {
      for (const { path, text } of files) {
        const file = Bun.file(join(work, '.claude/skills', names[pack] ?? '', path))
        if ((await file.text()) !== text) throw new Error(`${source}: ${path} differs.`)
      }
    }
    console.log(`skills@${version} installed ${names.join(' and ')} from ${source}.`)
  }
} finally {
  await server.stop()
  rmSync(home, { recursive: true, force: true })
}
