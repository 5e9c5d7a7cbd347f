import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { killDuringBuilds } from '../processes/build-kills.ts'
import { testSeed } from '../thorough.ts'

test(`kill -9 at each step of a build charges once or not at all (seed ${testSeed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-builds-'))
  try {
    const killed = await killDuringBuilds(join(dir, 'data'), 6, testSeed)
    expect(killed).toHaveLength(6)
    for (const { ends } of killed) expect(ends.join()).toMatch(/build (done|failed)/)
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 180_000)
