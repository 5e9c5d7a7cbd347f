import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { day, hour, minute, systemClock } from '../../kernel/time.ts'
import { signInOperator } from '../../testing/fixtures/form-browser.ts'
import { bucketSettings, hasS3Server, startS3Server } from '../../testing/fixtures/s3-server.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'
import {
  archiveBackup,
  describeArchives,
  restoreArchive,
  runBackupSchedule,
  selectKept,
  verifyArchive,
} from './archives.ts'
import { startRestore } from './console-backups.ts'
import { runCommand } from './control.ts'

const passphrase = 'twelve boats at sea'
let folder: ReturnType<typeof temporaryFolder>
let t: TestServer
const at = (...names: string[]): string => join(folder.path, ...names)
const settings = (more = {}) => ({
  BACKUP_TO: at('kept'),
  BACKUP_EVERY: '1h',
  BACKUP_KEEP: '2h,2d',
  BACKUP_PASSPHRASE: passphrase,
  ...more,
})
/** The usual cost takes a second of the processor each time. */
const cheap = { workFactor: 10 }
const start = async (more = {}) =>
  startTestServer(settings(more), { db: await openEngine({ dataDir: at('data') }) })

beforeEach(async () => {
  folder = temporaryFolder('berth-archives-')
  t = await start()
})
afterEach(async () => {
  await t.close()
  folder.remove()
})

const archives = (): string[] => readdirSync(at('kept')).toSorted()
const newest = (): string => at('kept', archives().at(-1) ?? '')
/** The settings of another machine, which has only the archive and the passphrase. */
const elsewhere = (more = {}) =>
  loadConfig(settings({ DATA_DIR: at('elsewhere'), ...more }), {}, false)

describe.skipIf(dialect === 'postgres')('encrypted backups', () => {
  test('the newest one is staged from the console, and a wrong passphrase stages none', async () => {
    await t.agent('ann')
    expect((await archiveBackup(t.ctx, cheap)).ok).toBe(true)
    const { dataDir } = t.ctx.config
    const staged = () => readdirSync(dataDir).filter((name) => name.startsWith('restor'))
    const { promise: restarted, resolve } = Promise.withResolvers<void>()
    t.ctx.state.backupWork.restart = resolve
    t.ctx.config.backupPassphrase = 'another phrase at sea'
    startRestore(t.ctx, 'newest', 'olga')
    await until(() => t.ctx.state.backupWork.running === undefined)
    const olga = await signInOperator(t)
    expect(await olga.read('/console/backups')).toContain('BACKUP_PASSPHRASE does not open')
    expect(staged()).toEqual([])
    t.ctx.config.backupPassphrase = passphrase
    startRestore(t.ctx, 'newest', 'olga')
    await restarted
    expect(staged()).toEqual([expect.stringContaining('restored-')])
  })

  test('are restored elsewhere with the passphrase, page and files included', async () => {
    const ann = await t.agent('ann')
    const id = await ann.publish({ title: 'Boats' })
    const made = await archiveBackup(t.ctx)
    expect(made).toMatchObject({ ok: true, text: expect.stringContaining('1 kept') })
    expect(archives()).toEqual(['berth-2026-05-04T12-00-00-000Z.tar.gz.age'])
    expect(readFileSync(newest()).subarray(0, 21).toString()).toBe('age-encryption.org/v1')
    expect(readFileSync(newest(), 'latin1')).toMatch(/^-> scrypt \S+ 16$/m)
    expect(readFileSync(newest()).includes('Boats')).toBe(false)
    const restored = await restoreArchive(elsewhere(), systemClock, newest())
    expect(restored).toMatchObject({ ok: true, text: expect.stringContaining('1 file') })
    const other = await startTestServer({}, { db: await openEngine({ dataDir: at('elsewhere') }) })
    expect((await other.call('GET', `/apps/${id}`, { key: ann.key })).status).toBe(200)
    await other.close()
    expect(readdirSync(at('elsewhere')).filter((name) => name.startsWith('restor'))).toEqual([])
  })

  test('are verified in a scratch folder that is removed', async () => {
    await (await t.agent('ann')).publish()
    await archiveBackup(t.ctx, cheap)
    const result = await verifyArchive(elsewhere(), systemClock, undefined)
    expect(result.text).toContain('all balances match the ledger, 1 file')
    expect(readdirSync(at('elsewhere'))).toEqual([])
  })

  test('with a wrong passphrase, or cut off or changed, restore nothing', async () => {
    await archiveBackup(t.ctx, cheap)
    const wrong = elsewhere({ BACKUP_PASSPHRASE: 'another passphrase' })
    const textOf = async (work: Promise<{ text: string }>) =>
      work.then(({ text }) => text).catch((error: unknown) => String(error))
    expect(await textOf(verifyArchive(wrong, systemClock, newest()))).toContain(
      'BACKUP_PASSPHRASE does not open this backup',
    )
    const whole = readFileSync(newest())
    truncateSync(newest(), whole.length - 1_000)
    expect(await textOf(restoreArchive(elsewhere(), systemClock, newest()))).toContain('damaged')
    const changed = Buffer.from(whole)
    changed[whole.length - 500] = (changed[whole.length - 500] ?? 0) ^ 1
    writeFileSync(newest(), changed)
    expect(await textOf(restoreArchive(elsewhere(), systemClock, newest()))).toContain('damaged')
    writeFileSync(at('notes.age'), 'no archive')
    expect(await textOf(verifyArchive(elsewhere(), systemClock, at('notes.age')))).toContain(
      'is no backup',
    )
    expect(readdirSync(at('elsewhere'))).toEqual(['owner.lock'])
  })

  test('are written when they are due, and old ones are removed', async () => {
    await runBackupSchedule(t.ctx, cheap)
    t.clock.advance(59 * minute)
    await runBackupSchedule(t.ctx, cheap)
    expect(archives()).toHaveLength(1)
    for (let count = 0; count < 2; count += 1) {
      t.clock.advance(hour)
      await runBackupSchedule(t.ctx, cheap)
    }
    const hours = archives().map((name) => name.slice(17, 22))
    expect(hours).toEqual(['13-59', '14-59'])
    expect(await describeArchives(t.ctx)).toMatchObject({ isOld: false })
    t.clock.advance(3 * hour)
    expect(await describeArchives(t.ctx)).toMatchObject({ isOld: true })
    const doctor = await runCommand(t.ctx, { command: 'doctor', words: [] })
    expect(doctor).toMatchObject({
      ok: false,
      text: expect.stringContaining('The newest backup in'),
    })
  })

  test('a failure is reported, tried again after five minutes, and leaves nothing', async () => {
    writeFileSync(at('kept'), 'a file where the folder should be')
    await runBackupSchedule(t.ctx, cheap)
    expect(t.ctx.state.backupWork.lastArchive).toMatchObject({ ok: false })
    const first = t.ctx.state.backupWork.lastArchive
    t.clock.advance(4 * minute)
    await runBackupSchedule(t.ctx, cheap)
    expect(t.ctx.state.backupWork.lastArchive).toEqual(first)
    t.clock.advance(minute)
    await runBackupSchedule(t.ctx, cheap)
    expect(t.ctx.state.backupWork.lastArchive?.at).toBe(t.clock.now())
    expect(readdirSync(t.ctx.config.dataDir).filter((name) => name.startsWith('restor'))).toEqual(
      [],
    )
    expect((await describeArchives(t.ctx))?.isOld).toBe(true)
    t.lines.length = 0
  })

  test('a part that a killed process left is removed by the next backup', async () => {
    await archiveBackup(t.ctx, cheap)
    writeFileSync(`${newest()}.part`, 'half')
    t.clock.advance(day)
    await archiveBackup(t.ctx, cheap)
    expect(archives()).toHaveLength(2)
    expect(archives().every((name) => name.endsWith('.age'))).toBe(true)
  })

  test('berth backup writes to another place on request', async () => {
    const words = ['', at('other'), '1d']
    expect(await runCommand(t.ctx, { command: 'backup', words })).toMatchObject({ ok: true })
    expect(readdirSync(at('other'))).toHaveLength(1)
    expect(t.ctx.state.backupWork.lastArchive).toBeUndefined()
  })

  test.skipIf(!hasS3Server)(
    'are stored in a bucket, and restored from it',
    async () => {
      const server = await startS3Server()
      try {
        const bucket = await server.createBucket()
        const s3 = Object.fromEntries(
          Object.entries(bucketSettings(bucket)).map(([name, value]) => [`BACKUP_${name}`, value]),
        )
        const { BACKUP_S3_BUCKET: name, ...keys } = s3
        const more = { ...keys, BACKUP_TO: `s3://${name}/berth` }
        const own = await start(more)
        await (await own.agent('ann')).publish()
        expect(await archiveBackup(own.ctx, cheap)).toMatchObject({ ok: true })
        expect((await verifyArchive(elsewhere(more), systemClock, undefined)).ok).toBe(true)
        own.clock.advance(2 * day)
        const second = await archiveBackup(own.ctx, { ...cheap, keep: '1d' })
        expect(second.text).toContain('1 kept, 1 removed')
        await own.close()
      } finally {
        await server.stop()
      }
    },
    120_000,
  )
})

test('the newest of each hour, day and week are kept', () => {
  const name = (ms: number) =>
    `berth-${new Date(ms).toISOString().replaceAll(/[:.]/g, '-')}.tar.gz.age`
  const last = Date.UTC(2026, 4, 6, 23, 30)
  const all = Array.from({ length: 24 * 30 }, (_, at) => ({
    name: name(last - at * hour),
    bytes: 1,
  }))
  const kept = [...selectKept(all, '3h,3d,3w')].toSorted()
  const times = [0, hour, 2 * hour, day, 2 * day].map((ago) => name(last - ago))
  // Weeks of UTC begin on Thursdays, as days are counted since 1970.
  const weeks = ['2026-04-29T23-30', '2026-04-22T23-30'].map(
    (time) => all.find((one) => one.name.includes(time))?.name ?? '',
  )
  expect(kept).toEqual([...times, ...weeks].toSorted())
  expect([...selectKept([], '3h')]).toEqual([])
})
