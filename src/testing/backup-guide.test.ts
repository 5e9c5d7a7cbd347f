/** Follows docs/backup.md literally, in an empty home folder. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { dialect } from '../kernel/db/columns.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'
import {
  binaryPath,
  type ServerProcess,
  startServerProcess,
  textAt,
} from './processes/server-process.ts'

setDefaultTimeout(180_000)
const root = join(import.meta.dir, '../..')
const home = temporaryFolder('berth-guide-')
afterAll(() => home.remove())
const at = (...names: string[]): string => join(home.path, ...names)
symlinkSync(binaryPath, at('berth'))
const offline = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }

const page = await Bun.file(join(root, 'docs/backup.md')).text()
const blocks = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)
/** Returns the code block of the page that begins so. */
const block = (start: string): string => {
  const found = blocks.filter((text) => text.startsWith(start))
  expect(found).toHaveLength(1)
  return found[0] ?? ''
}

/** Pastes lines into a shell at home. Returns what it prints. */
async function paste(...lines: string[]): Promise<string> {
  const shell = Bun.spawn(['bash', '-ec', lines.join('\n')], {
    cwd: home.path,
    env: { PATH: `${home.path}:${Bun.env.PATH}`, HOME: home.path, ...offline },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([shell.stdout.text(), shell.stderr.text()])
  expect([err, await shell.exited]).toEqual(['', 0])
  return out
}

const serve = (dataDir: string): Promise<ServerProcess> =>
  startServerProcess(dataDir, { env: offline })
async function stop(server: ServerProcess): Promise<void> {
  server.kill('SIGTERM')
  await server.exited
}

test.skipIf(dialect === 'postgres')(
  'a stranger backs up, restores on a new machine, and moves an agent',
  async () => {
    const server = await serve(at('data'))
    const key = await server.newKey()
    const html = '<!doctype html><title>Boats</title>'
    const made = await server.call('POST', '/api/apps', key, { html })
    const id = textAt(await made.json(), 'app.id')
    await server.call('PATCH', '/api/me', key, { about: 'Makes boats.' })
    const handle = textAt(await (await server.call('GET', '/api/me', key)).json(), 'handle')

    const settings = block('export BACKUP_TO')
    // The server of this test has no settings: stop it, and the commands work on its folder.
    await stop(server)
    const backedUp = await paste(settings, block('berth backup\n'), block('berth backup ~'))
    expect(backedUp).toContain('The backup is valid: all balances match the ledger')
    expect(readdirSync(at('berth-backups'))).toHaveLength(1)

    const elsewhere = block('export DATA_DIR')
    expect(await paste(elsewhere)).toContain('Restored the backup of')
    const [check = '', run = ''] = block('berth doctor').split('\n')
    const restored = await paste(elsewhere.split('\n')[0] ?? '', block('berth restore ~'), check)
    expect(restored.match(/Restored the backup of/g)).toHaveLength(2)
    expect(restored).toContain('before-restore-')
    expect(restored).toContain('The ledger is sound')
    expect(run).toBe('berth serve')
    const again = await serve(at('berth-data'))
    expect((await again.call('GET', `/a/${id}`)).status).toBe(200)
    expect((await again.call('GET', '/api/me', key)).status).toBe(200)
    await stop(again)

    const named = (text: string): string => text.replaceAll('@fox', `@${handle}`)
    await paste('export DATA_DIR=~/berth-data', named(block('berth export @fox')))
    const other = await serve(at('other'))
    await stop(other)
    const local = (text: string): string =>
      named(text).replaceAll('https://old.example', 'http://localhost:3000')
    const imported = await paste('export DATA_DIR=~/other', local(block('berth import fox.zip')))
    expect(imported).toContain(`as @${handle}: 1 item,`)
    expect(imported).toContain(`/a/${id}`)
  },
)

test('every code block of the page is one of those, or needs PostgreSQL', () => {
  const walked = ['export BACKUP_TO', 'berth backup', 'export DATA_DIR', 'berth restore ~']
  const others = ['berth doctor', 'berth export', 'berth import', 'berth copy']
  const left = blocks.filter((text) => ![...walked, ...others].some((one) => text.startsWith(one)))
  expect(left).toEqual([])
})
