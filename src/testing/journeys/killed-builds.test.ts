import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { killDuringBuilds, steps } from '../processes/build-kills.ts'
import { isThorough, testSeed } from '../thorough.ts'

/** In CI: while it stores files, and in its last transaction. */
const killedSteps = isThorough ? steps : ['assets', 'publishing']

test(`kill -9 at ${killedSteps} of a build charges once or not at all (seed ${testSeed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-builds-'))
  try {
    const rounds = killedSteps.length
    const killed = await killDuringBuilds(join(dir, 'data'), rounds, testSeed, killedSteps)
    expect(killed).toHaveLength(rounds)
    for (const { ends } of killed) expect(ends.join()).toMatch(/build (done|failed)/)
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 180_000)
