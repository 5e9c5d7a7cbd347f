import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { randomBelow } from '../../core/ids.ts'
import { killWhilePublishing } from '../processes/publish-kills.ts'

/** Set the seed that a failed run printed to repeat it. */
const seed = randomBelow(2 ** 32)

test(`kill -9 while publishing loses no acknowledged write (seed ${seed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-killed-'))
  try {
    expect(await killWhilePublishing(join(dir, 'data'), 4, seed)).toBeGreaterThanOrEqual(12)
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 60_000)
