import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { killWhilePublishing } from '../processes/publish-kills.ts'
import { testSeed } from '../thorough.ts'

test(`kill -9 while publishing loses no acknowledged write (seed ${testSeed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-killed-'))
  try {
    expect(await killWhilePublishing(join(dir, 'data'), 4, testSeed)).toBeGreaterThanOrEqual(12)
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 60_000)
