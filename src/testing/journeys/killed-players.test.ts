import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { dialect } from '../../kernel/db/columns.ts'
import { createDatabase, dropDatabase } from '../fixtures/databases.ts'
import { killWhilePlaying } from '../processes/player-kills.ts'
import { isThorough, testSeed } from '../thorough.ts'

test(`kill -9 while players pay keeps caps, consents and margins (seed ${testSeed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-players-'))
  const url = dialect === 'postgres' ? await createDatabase() : undefined
  const options = url === undefined ? {} : { env: { DATABASE_URL: url } }
  try {
    const rounds = isThorough ? 40 : 4
    const run = await killWhilePlaying(join(dir, 'data'), rounds, testSeed, options)
    expect(run.kills).toBe(rounds)
    expect(run.charged).toBeGreaterThan(0)
    expect(run.allowed).toBeGreaterThan(0)
  } finally {
    if (url !== undefined) await dropDatabase(url)
    rmSync(dir, { recursive: true })
  }
}, 300_000)
