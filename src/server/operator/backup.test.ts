import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as apps from '../../apps/apps.ts'
import * as assets from '../../apps/assets/assets.ts'
import { publishApp } from '../../apps/publish.ts'
import * as versions from '../../apps/versions/versions.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import type { AppContext } from '../../kernel/context.ts'
import { schemaVersion } from '../../kernel/db/open.ts'
import { sha256 } from '../../kernel/ids.ts'
import { openLog } from '../../kernel/log.ts'
import { day, systemClock } from '../../kernel/time.ts'
import { keys } from '../../money/keys/tables.ts'
import * as agents from '../../people/agents/agents.ts'
import { createAgent } from '../../people/agents/create-agent.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { FolderInUse, lockFolder } from '../../store/folder-lock.ts'
import { catchError } from '../../testing/catch-error.ts'
import { nextTurn } from '../../testing/until.ts'
import { closeContext, createContext } from '../context.ts'
import { createBackup, restoreBackup } from './backup.ts'

let dir = ''
let ctx: AppContext
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-backup-'))
  ctx = await open('data')
})
afterEach(async () => {
  await closeContext(ctx)
  rmSync(dir, { recursive: true, force: true })
})

const at = (...names: string[]): string => join(dir, ...names)
const configOf = (name: string) => loadConfig({ DATA_DIR: at(name) }, {})
const quiet = openLog(systemClock, () => {})
const open = (name: string): Promise<AppContext> =>
  createContext(configOf(name), 'http://localhost', { log: quiet })

const page = `<!doctype html><title>Lamp</title><p>A page to keep${'.'.repeat(1_000)}`
const sound = Buffer.from(JSON.stringify({ notes: [1, 2, 3] }))

/** An agent with an app of two versions and an asset. */
async function fill(its: AppContext): Promise<{ agent: agents.Agent; id: string }> {
  const { agent } = await createAgent(its, { handle: 'ann' }, '192.0.2.1')
  await publishApp(its, agent, { html: page })
  const [app] = await apps.listByMaker(its, agent.id, 1)
  if (!app) throw new Error('no app')
  await assets.putAsset(its, agent, app.id, 'notes.json', sound)
  return { agent, id: app.id }
}

/** Every file below a folder, with its content. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [name, sha256(readFileSync(join(folder, name)))]),
  )

const htmlOf = async (its: AppContext, agent: agents.Agent, id: string): Promise<string> =>
  Buffer.from(await versions.getHtml(its, agent, id, undefined)).toString()

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

test('a backup has the database, the referenced files, the secret and the prices', async () => {
  await fill(ctx)
  await ctx.storage.put(Buffer.from('unreferenced'))
  writeFileSync(at('data/models.json'), '[]')
  const outcome = await createBackup(ctx, at('copy'))
  const content = contentOf(at('copy'))
  const stored = Object.keys(content).filter((name) => name.startsWith('files/'))
  expect(stored).toHaveLength(2)
  expect(Object.keys(content).filter((name) => !name.startsWith('files/'))).toEqual([
    'backup.json',
    'berth.sqlite',
    'link-secret',
    'models.json',
    'settings-secret',
  ])
  const bytes = stored.reduce((sum, name) => sum + statSync(at('copy', name)).size, 0)
  expect(outcome).toMatchObject({
    ok: true,
    text: expect.stringContaining(
      `: the database and 2 files, ${bytes.toLocaleString('en')} bytes.`,
    ),
  })
  expect(JSON.parse(readFileSync(at('copy/backup.json'), 'utf8'))).toMatchObject({
    format: 1,
    berth: expect.any(String),
    schema: schemaVersion(),
    created: expect.stringMatching(/Z$/),
    files: 2,
    bytes,
    sha256: content['berth.sqlite'],
  })
  expect(statSync(at('copy')).mode & 0o777).toBe(0o700)
})

test('a backup into a folder with content fails', async () => {
  mkdirSync(at('copy'))
  writeFileSync(at('copy/letter'), 'mine')
  expect(textOf(await catchError(createBackup(ctx, at('copy'))))).toContain('is not empty')
  expect(readdirSync(at('copy'))).toEqual(['letter'])
})

test('a failed backup leaves an empty folder', async () => {
  await fill(ctx)
  const error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const clock = {
    now() {
      throw error
    },
  }
  const full = await catchError(createBackup({ ...ctx, clock }, at('copy')))
  expect(textOf(full)).toContain(`The disk of ${at('copy')} is full`)
  expect(readdirSync(at('copy'))).toEqual([])
  rmSync(at('data/files'), { recursive: true })
  expect(textOf(await catchError(createBackup(ctx, at('copy'))))).toContain('is missing')
  expect(readdirSync(at('copy'))).toEqual([])
})

test('on PostgreSQL backup and restore print the alternative', async () => {
  const onPostgres = { ...ctx, db: { ...ctx.db, file: undefined } }
  expect(await createBackup(onPostgres, at('copy'))).toMatchObject({ ok: false })
  const config = { ...configOf('data'), databaseUrl: 'postgres://localhost/berth' }
  const { ok, text } = await restoreBackup(config, at('copy'), systemClock)
  expect({ ok, lines: text.split('\n').length }).toEqual({ ok: false, lines: 1 })
  expect(text).toContain('pg_dump')
})

test('sweeps and backups run one after the other', async () => {
  const order: string[] = []
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const work = (name: string) => async () => {
    order.push(`${name} begins`)
    begun.resolve()
    if (name === 'backup') await gate.promise
    order.push(`${name} ends`)
  }
  const failing = ctx.state.fileWork.run(() => Promise.reject(new Error('no disk')))
  const works = ['backup', 'sweep'].map((name) => ctx.state.fileWork.run(work(name)))
  await catchError(failing)
  await begun.promise
  await nextTurn()
  gate.resolve()
  await Promise.all(works)
  expect(order).toEqual(['backup begins', 'backup ends', 'sweep begins', 'sweep ends'])
})

test('a restore into a used folder replaces its content and keeps the old one beside it', async () => {
  const { agent, id } = await fill(ctx)
  await createBackup(ctx, at('copy'))
  const secret = readFileSync(at('data/link-secret'), 'utf8')
  await createAgent(ctx, { handle: 'ben' }, '192.0.2.2')
  await versions.publishVersion(ctx, agent, id, { html: `${page}, later` })
  await closeContext(ctx)

  const { ok, text } = await restoreBackup(configOf('data'), at('copy'), systemClock)
  expect(ok).toBe(true)
  ctx = await open('data')
  expect(await agents.findByHandle(ctx, 'ben')).toBeUndefined()
  expect(await htmlOf(ctx, agent, id)).toBe(page)
  const { content } = await assets.openAsset(ctx, agent, id, 'notes.json')
  expect(Buffer.from(await content.bytes())).toEqual(sound)
  expect(ctx.secret).toBe(secret.trim())

  const aside = /in (\S+before-restore-\S+)\./.exec(text)?.[1] ?? ''
  expect(readdirSync(aside).sort()).toEqual([
    'berth.sqlite',
    'files',
    'link-secret',
    'settings-secret',
  ])
  const before = await createContext({ ...configOf('data'), dataDir: aside }, 'http://x', {
    log: quiet,
  })
  expect(await htmlOf(before, agent, id)).toBe(`${page}, later`)
  expect(await agents.findByHandle(before, 'ben')).toBeDefined()
  await closeContext(before)
})

test('a restored data folder and its backup do not share writable files', async () => {
  await fill(ctx)
  await createBackup(ctx, at('copy'))
  await restoreBackup(configOf('fresh'), at('copy'), systemClock)
  const fresh = await open('fresh')
  await fresh.storage.sweep(async () => new Set(), -day)
  expect(await fresh.storage.usage()).toMatchObject({ files: 0 })
  await closeContext(fresh)
  const { text } = await restoreBackup(configOf('again'), at('copy'), systemClock)
  expect(text).not.toContain('before')
  expect(readdirSync(at('again/files'))).toHaveLength(2)
})

test('a restore over a damaged database says what it could not end', async () => {
  await createBackup(ctx, at('copy'))
  await closeContext(ctx)
  for (const end of ['-wal', '-shm']) rmSync(at(`data/berth.sqlite${end}`), { force: true })
  writeFileSync(at('data/berth.sqlite'), 'no database')
  const { ok, text } = await restoreBackup(configOf('data'), at('copy'), systemClock)
  expect(ok).toBe(true)
  expect(text).toContain('Everyone signs in again. The previous database could not be read')
  ctx = await open('data')
  expect(await listAudit(ctx, 1)).toMatchObject([{ by: 'command line', did: 'restore backup' }])
})

test('a restore names the keys that the previous database does not have', async () => {
  await fill(ctx)
  const [key] = await ctx.db.read.select({ prefix: keys.prefix }).from(keys)
  await createBackup(ctx, at('copy'))
  await closeContext(await open('other'))
  const warning = `these keys, which stay valid: ${key?.prefix}. Revoke those that must not.`
  const { ok, text } = await restoreBackup(configOf('other'), at('copy'), systemClock)
  expect([ok, text]).toEqual([true, expect.stringContaining(warning)])
  const other = await open('other')
  const [entry] = await listAudit(other, 1)
  expect(entry?.why).toContain(warning)
  await closeContext(other)
})

test('a restore into a data folder in use fails', async () => {
  await createBackup(ctx, at('copy'))
  const release = lockFolder(at('data'))
  try {
    const error = await catchError(restoreBackup(configOf('data'), at('copy'), systemClock))
    expect(error).toBeInstanceOf(FolderInUse)
  } finally {
    release()
  }
})

/** Writes the checksum anew, so that what is wrong must be found by what comes after it. */
function signAnew(copy: string, changes: Record<string, unknown> = {}): void {
  const manifest: object = JSON.parse(readFileSync(join(copy, 'backup.json'), 'utf8'))
  const hash = sha256(readFileSync(join(copy, 'berth.sqlite')))
  writeFileSync(
    join(copy, 'backup.json'),
    JSON.stringify({ ...manifest, sha256: hash, ...changes }),
  )
}

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes[offset] = (bytes[offset] ?? 0) ^ 0x10
  writeFileSync(path, bytes)
}

/** A change by SQL, signed anew. */
function change(copy: string, statement: string): void {
  const database = new Database(join(copy, 'berth.sqlite'))
  database.run(statement)
  database.close()
  signAnew(copy)
}

const storedIn = (copy: string): string =>
  join(
    copy,
    'files',
    readdirSync(join(copy, 'files'), { recursive: true, encoding: 'utf8' }).find((name) =>
      name.includes('/'),
    ) ?? '',
  )

const damages: [title: string, damage: (copy: string) => void, says: RegExp][] = [
  ['no backup.json', (copy) => rmSync(join(copy, 'backup.json')), /is not a complete backup/],
  ['half of backup.json', (copy) => writeFileSync(join(copy, 'backup.json'), '{"for'), /not JSON/],
  [
    'another format',
    (copy) => signAnew(copy, { format: 2 }),
    /format that this program cannot read/,
  ],
  ['a newer schema', (copy) => signAnew(copy, { schema: 99 }), /schema 99, but this program/],
  [
    'a newer schema that only the database tells',
    (copy) => change(copy, "insert into schema_migrations (tag, hash) values ('9999_later', 'x')"),
    /Run the newer version/,
  ],
  ['no database', (copy) => rmSync(join(copy, 'berth.sqlite')), /berth\.sqlite is missing/],
  ['a flipped bit in the database', (copy) => flip(join(copy, 'berth.sqlite'), 9_000), /damaged/],
  [
    'a database that was damaged before it was signed',
    (copy) => {
      const path = join(copy, 'berth.sqlite')
      const bytes = readFileSync(path)
      writeFileSync(path, bytes.fill(0xa5, 4_096, 3 * 4_096))
      signAnew(copy)
    },
    /damaged: /,
  ],
  [
    'half a database, signed',
    (copy) => {
      const path = join(copy, 'berth.sqlite')
      writeFileSync(path, readFileSync(path).subarray(0, 5_000))
      signAnew(copy)
    },
    /damaged: /,
  ],
  [
    'books that do not balance',
    (copy) => change(copy, "update accounts set balance = balance + 1 where id like 'agent:%'"),
    /The ledger is broken/,
  ],
  ['a missing file', (copy) => rmSync(storedIn(copy)), /is missing/],
  ['a flipped bit in a file', (copy) => flip(storedIn(copy), 3), /The stored file .* is damaged/],
  [
    'a file of another name',
    (copy) => writeFileSync(storedIn(copy), 'of another length'),
    /The stored file .* is damaged/,
  ],
  ['no secret', (copy) => rmSync(join(copy, 'link-secret')), /link-secret is missing/],
  ['half a secret', (copy) => writeFileSync(join(copy, 'link-secret'), 'abc'), /is damaged/],
]

test('a damaged backup is rejected with the reason and replaces nothing', async () => {
  await fill(ctx)
  await createBackup(ctx, at('copy'))
  await createAgent(ctx, { handle: 'later' }, '192.0.2.3')
  await closeContext(ctx)
  lockFolder(at('data'))()
  const before = contentOf(at('data'))
  for (const [title, damage, says] of damages) {
    cpSync(at('copy'), at('bad'), { recursive: true })
    damage(at('bad'))
    const why = textOf(await catchError(restoreBackup(configOf('data'), at('bad'), systemClock)))
    expect([title, why]).toEqual([title, expect.stringMatching(says)])
    expect(contentOf(at('data'))).toEqual(before)
    rmSync(at('bad'), { recursive: true })
  }
  expect(await restoreBackup(configOf('data'), at('copy'), systemClock)).toMatchObject({ ok: true })
  ctx = await open('data')
  expect(await agents.findByHandle(ctx, 'later')).toBeUndefined()
})
