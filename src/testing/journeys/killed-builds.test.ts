import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pick } from '../../core/ids.ts'
import { killBuilds } from '../build-kills.ts'

/** Put the printed seed of a failed run here to draw the same again. */
const seed = pick(2 ** 32)

test(`kill -9 at each step of a build charges once or not at all (seed ${seed})`, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-builds-'))
  try {
    const killed = await killBuilds(join(dir, 'data'), 6, seed)
    expect(killed).toHaveLength(6)
    for (const { ends } of killed) expect(ends.join()).toMatch(/build (done|failed)/)
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 180_000)
