import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isNull } from 'drizzle-orm'

import { shareLinks } from '../../apps/audience/tables.ts'
import { apps } from '../../apps/tables.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { ApiError } from '../../kernel/errors.ts'
import { backupsMax } from '../../kernel/limits.ts'
import { systemClock } from '../../kernel/time.ts'
import { keys } from '../../money/keys/tables.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { sessions } from '../../people/tables.ts'
import { lockFolder } from '../../store/folder-lock.ts'
import {
  alertText,
  type FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'
import { restoreBackup } from '../operator/backup.ts'
import { listBackups } from '../operator/console-backups.ts'

let dir = ''
let t: TestServer
let olga: FormBrowser
let id = ''
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-kept-'))
  t = await startTestServer({}, { db: await openEngine({ dataDir: dir }) })
  id = await (await t.agent('ann')).publish({ title: 'Boats' })
  olga = await signInOperator(t)
})
afterEach(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

const place = '/console/backups'
const page = (): Promise<string> => olga.read(place)

/** Waits until no backup is running and returns the page. */
const ended = (): Promise<string> =>
  until(async () => {
    const now = await page()
    return !now.includes('<auto-refresh') && now
  })

async function make(): Promise<string> {
  expect((await olga.fill(place, place, {})).headers.get('location')).toBe(place)
  await ended()
  const [newest] = (await listBackups(t.ctx)).backups
  expect(newest?.manifest).toMatchObject({ format: 1, files: 1 })
  return newest?.name ?? ''
}

async function act(name: string, what: string) {
  const { token = '' } = hiddenFields(await page(), place)
  return olga.send(`${place}/${name}`, { token, act: what })
}

const folder = (...names: string[]): string => join(t.ctx.config.dataDir, 'backups', ...names)

describe.skipIf(dialect === 'postgres')('console backups', () => {
  test('creates none on a full disk', async () => {
    t.ctx.storage.requireFreeSpace = () => {
      throw new ApiError('try_again', { why: 'the disk is full' })
    }
    expect((await olga.fill(place, place, {})).status).toBe(503)
    expect((await listBackups(t.ctx)).backups).toEqual([])
  })

  test('creates, verifies, downloads and restores a backup', async () => {
    expect(await page()).toContain('No backups yet')
    const name = await make()
    expect(await page()).toContain(`${place}/${name}`)
    expect((await act(name, 'check')).status).toBe(303)
    expect(await ended()).toContain('The backup is valid: all balances match the ledger, 1 file,')
    expect(readdirSync(t.ctx.config.dataDir).filter((one) => one.startsWith('restor'))).toEqual([])

    const tar = await olga.open(`${place}/${name}`)
    expect([tar.status, tar.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
    expect(tar.headers.get('content-disposition')).toContain(`berth-${name}.tar`)
    expect(tar.bytes.length % 512).toBe(0)
    await Bun.write(join(dir, 'all.tar'), tar.bytes)
    expect(Bun.spawnSync(['tar', '-xf', 'all.tar'], { cwd: dir }).exitCode).toBe(0)
    const config = loadConfig({ DATA_DIR: join(dir, 'other') }, {})
    const back = await restoreBackup(config, join(dir, `berth-${name}`), systemClock)
    expect(back.text).toContain('the database and 1 file,')
    const cy = await signUp(t, 'cyrus', '198.51.100.7')
    expect((await cy.open(`${place}/${name}`)).status).toBe(404)
  })

  test('reports and deletes a damaged backup and logs both', async () => {
    const name = await make()
    const [first = ''] = readdirSync(folder(name, 'files'))
    const [file = ''] = readdirSync(folder(name, 'files', first))
    const damaged = folder(name, 'files', first, file)
    rmSync(damaged)
    writeFileSync(damaged, 'something else')
    await act(name, 'check')
    expect(await ended()).toContain('is damaged.')
    expect((await t.request('GET', `/a/${id}`)).status).toBe(200)
    t.ctx.state.backupWork.restart = () => expect.unreachable()
    expect((await act(name, 'restore')).status).toBe(303)
    expect(await ended()).toContain('is damaged.')
    expect(readdirSync(t.ctx.config.dataDir).filter((one) => one.startsWith('restor'))).toEqual([])
    expect((await act(name, 'remove')).status).toBe(303)
    expect(readdirSync(folder())).toEqual([])
    expect((await olga.open(`${place}/${name}`)).status).toBe(404)
    const log = await olga.read('/console/audit')
    expect(log).toContain('Backup removed')
    expect(shownPage(log).allByRole('cell', 'olga')).toHaveLength(2)
  })

  test('stages a verified backup, with which the next start of the folder begins', async () => {
    const ann = await t.agent('ann')
    const newKey = async (): Promise<string> =>
      (await ann.call('POST', '/me/keys', { name: 'laptop' })).text('prefix')
    const newLink = async (): Promise<string> =>
      (await ann.call('POST', `/apps/${id}/links`, { name: 'a friend' })).text('link.id')
    const [revokedKey, keptKey] = [await newKey(), await newKey()]
    const [revokedLink, keptLink] = [await newLink(), await newLink()]
    const name = await make()
    expect((await act(name, 'restore')).status).toBe(400)
    const { promise: restarted, resolve } = Promise.withResolvers<void>()
    t.ctx.state.backupWork.restart = resolve
    await ann.call('DELETE', `/me/keys/${revokedKey}`)
    await ann.call('DELETE', `/apps/${id}/links/${revokedLink}`)
    const later = await (await t.agent('ann')).publish({ title: 'Later' })
    expect((await act(name, 'restore')).status).toBe(303)
    await restarted
    const { dataDir } = t.ctx.config
    const staged = () => readdirSync(dataDir).filter((one) => one.startsWith('restor'))
    expect(staged()).toEqual([expect.stringContaining('restored-')])
    // This server goes on with its data until it restarts.
    expect((await t.request('GET', `/a/${later}`)).status).toBe(200)
    lockFolder(dataDir)()
    expect(staged()).toEqual([])
    const db = await openEngine({ dataDir })
    const found = await db.read.select({ id: apps.id }).from(apps)
    expect(found).toEqual([{ id }])
    const restored = await startTestServer({}, { db })
    expect(await restored.ctx.db.read.select().from(sessions)).toEqual([])
    const live = await restored.ctx.db.read
      .select({ prefix: keys.prefix })
      .from(keys)
      .where(isNull(keys.revoked))
    const prefixes = live.map(({ prefix }) => prefix)
    expect([prefixes.includes(revokedKey), prefixes.includes(keptKey)]).toEqual([false, true])
    const links = await restored.ctx.db.read.select({ id: shareLinks.id }).from(shareLinks)
    expect(links).toEqual([{ id: keptLink }])
    const [entry] = await listAudit(restored.ctx, 1)
    expect(entry).toMatchObject({ by: 'olga', did: 'restore backup', item: name })
    await restored.close()
    expect(shownPage(await page()).text).toContain('before-restore-')
    for (const wrong of ['2026-01-01T00-00-00-000', 'old']) {
      expect((await act(wrong, 'restore')).status).toBe(404)
    }
  })

  test('reports busy, too many and incomplete backups and rejects other paths', async () => {
    const { token = '' } = hiddenFields(await page(), place)
    const both = await Promise.all([olga.send(place, { token }), olga.send(place, { token })])
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409])
    await ended()
    const unfinished = '2026-01-01T00-00-00-000Z'
    mkdirSync(folder(unfinished))
    expect(await page()).toContain('incomplete')
    expect((await olga.open(`${place}/${unfinished}`)).status).toBe(404)
    await act(unfinished, 'check')
    expect(await ended()).toContain('is not a complete backup')
    // The first two are the console itself, which has no form.
    for (const [name, status] of [
      ['..', 405],
      ['%2e%2e', 405],
      ['..%2f..', 404],
      ['x', 404],
      ['2026-01-01T00-00-00-000Z%00', 404],
    ] as const) {
      for (const what of ['check', 'remove']) expect((await act(name, what)).status).toBe(status)
    }
    for (let at = 1; at < backupsMax - 1; at += 1) {
      mkdirSync(folder(`2026-02-01T00-00-00-${String(at).padStart(3, '0')}Z`))
    }
    t.clock.advance(1_000)
    const full = await olga.send(place, { token })
    expect([full.status, alertText(full)]).toEqual([
      400,
      expect.stringContaining('Remove one first'),
    ])
  })
})
