import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { databaseFile, openEngine } from './open.ts'

test('an error on opening names the database without its password', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-open-'))
  const file = join(dataDir, databaseFile)
  writeFileSync(file, 'no database, but long enough to be looked at'.repeat(100))
  await expect(openEngine({ dataDir })).rejects.toThrow(`${file}: file is not a database`)
  const databaseUrl = 'postgres://ann:hush@127.0.0.1:1/berth'
  await expect(openEngine({ dataDir, databaseUrl })).rejects.toThrow(/^DATABASE_URL: Failed to/)
  rmSync(dataDir, { recursive: true })
})
