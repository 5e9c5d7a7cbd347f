import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { migrateSqlite } from '../../kernel/db/open.ts'
import { contentOf, fillAgent } from '../../testing/fixtures/agent-archives.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { runBerth } from '../../testing/processes/server-process.ts'
import { runCommand } from '../operator/control.ts'

setDefaultTimeout(180_000)
const folder = temporaryFolder('berth-agent-')
afterAll(() => folder.remove())
const at = (name: string): string => join(folder.path, name)

/** Runs the command line on a data folder with SQLite. */
async function berth(...words: string[]): Promise<string> {
  const env = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }
  const { code, out, err } = await runBerth([...words, '--data', at('data')], { env })
  expect([code, err]).toEqual([0, expect.not.stringContaining('Error')])
  return out
}

test('an agent moves to a data folder with SQLite, and on to the database of this test', async () => {
  const first = await startTestServer()
  const ann = await first.agent('ann')
  await fillAgent(first, ann)
  const zip = (await ann.call('GET', '/me/export')).bytes
  writeFileSync(at('first.zip'), zip)
  await first.close()

  mkdirSync(at('data'))
  migrateSqlite(join(at('data'), 'berth.sqlite'))
  const from = ['--from', 'http://localhost:3000/']
  const imported = await berth('import', at('first.zip'), ...from, '--as', 'ann-sails')
  expect(imported).toContain('as @ann-sails')
  expect(await berth('export', '@ann-sails', at('second.zip'))).toContain('Exported @ann-sails')
  expect(await berth('doctor')).toContain('The ledger is sound')

  const last = await startTestServer()
  const words = [at('second.zip'), 'http://localhost:3000', '', '0']
  const { ok, text } = await runCommand(last.ctx, { command: 'import', words })
  expect([ok, text]).toEqual([true, expect.stringContaining('as @ann-sails: 4 items')])
  const key = /ak_\w+/.exec(text)?.[0] ?? ''
  const there = contentOf((await last.call('GET', '/me/export', { key })).bytes)
  const renamed = JSON.stringify(contentOf(zip)).replaceAll('"@ann"', '"@ann-sails"')
  expect(there).toEqual(JSON.parse(renamed))
  await last.close()
})
