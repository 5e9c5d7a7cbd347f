import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { runInTerminal } from '../../testing/fixtures/terminal.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { binaryPath } from '../../testing/processes/server-process.ts'
import { until } from '../../testing/until.ts'

setDefaultTimeout(180_000)
const folder = temporaryFolder('berth-backup-command-')
const at = (...names: string[]): string => join(folder.path, ...names)

beforeAll(async () => {
  const t = await startTestServer({}, { db: await openEngine({ dataDir: at('data') }) })
  await (await t.agent('ann')).publish()
  const { dataDir } = t.ctx.config
  mkdirSync(at('data'), { recursive: true })
  for (const name of ['files', 'link-secret']) {
    Bun.spawnSync(['cp', '-r', join(dataDir, name), at('data', name)])
  }
  await t.close()
})
afterAll(() => folder.remove())

const environment = (data = 'data') => ({
  PATH: Bun.env.PATH,
  DATA_DIR: at(data),
  BACKUP_TO: at('kept'),
  BACKUP_PASSPHRASE: 'twelve boats at sea',
})

function start(words: string[], data?: string) {
  return Bun.spawn([binaryPath, ...words], {
    cwd: folder.path,
    env: environment(data),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 150_000,
  })
}

async function run(words: string[], data?: string) {
  const child = start(words, data)
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  return { code, out, err }
}

/** Runs a command in a terminal, and returns what it shows until it has succeeded. */
async function screenOf(words: string[], data?: string): Promise<string> {
  const options = { cwd: folder.path, env: environment(data), timeout: 150_000 }
  const terminal = runInTerminal([binaryPath, ...words], options)
  expect(await terminal.exited).toBe(0)
  return terminal.shows(/\S/)
}

const archives = (): string[] => (existsSync(at('kept')) ? readdirSync(at('kept')) : [])

describe.skipIf(dialect === 'postgres')('berth backup', () => {
  test('writes an encrypted archive that another machine verifies and restores', async () => {
    const made = await run(['backup'])
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).toMatch(/^berth-\S+\.tar\.gz\.age is in \S+kept: [\d,]+ bytes, 1 kept\.\n$/)
    expect((await run(['backup', 'verify'], 'other')).out).toContain('The backup is valid')
    const [name = ''] = archives()
    expect((await run(['restore', at('kept', name)], 'other')).out).toContain('Restored the backup')
    expect((await run(['doctor'], 'other')).code).toBe(0)
  })

  test('that is killed leaves earlier archives whole, and the next one clean', async () => {
    const before = archives()
    const child = start(['backup'])
    const isCopying = () => readdirSync(at('data')).some((name) => name.startsWith('restoring-'))
    await until(() => isCopying())
    child.kill('SIGKILL')
    await child.exited
    expect(archives().filter((name) => name.endsWith('.age'))).toEqual(before)
    expect((await run(['backup', 'verify'])).code).toBe(0)
    expect((await run(['backup'])).code).toBe(0)
    expect(archives().every((name) => name.endsWith('.age'))).toBe(true)
    expect(isCopying()).toBe(false)
  })

  test('repeats until it is stopped', async () => {
    const child = start(['backup', '--every', '1m', '--to', at('often'), '--keep', '1h'])
    const { value } = await child.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toContain('1 kept')
    child.kill('SIGINT')
    await child.exited
    expect(readdirSync(at('often'))).toHaveLength(1)
  })

  test('shows bars in a terminal, also for the work of a running server', async () => {
    const server = start(['serve', '--json', '--port', '0'])
    await server.stdout.getReader().read()
    expect(await screenOf(['backup'])).toMatch(/Backing up █+ *100% encrypting/)
    server.kill()
    await server.exited
    expect(await screenOf(['backup'])).toMatch(
      /Backing up █+ *100% copying files[^]*Backing up █+ *100% encrypting/,
    )
    expect(await screenOf(['backup', 'verify'])).toMatch(
      /Verifying █+ *100% opening the archive[^]*Verifying █+ *100% verifying files/,
    )
    expect(await screenOf(['restore', 'newest'], 'fourth')).toMatch(/Restoring █+ *100% verifying/)
  })

  test('says what is missing', async () => {
    const every = await run(['backup', '--every', 'often'])
    expect(every).toMatchObject({ code: 1, err: expect.stringContaining('BACKUP_EVERY') })
    const restore = await run(['restore', at('kept', 'nothing.age')], 'third')
    expect(restore).toMatchObject({ code: 1, err: expect.stringContaining('nothing.age') })
  })
})
