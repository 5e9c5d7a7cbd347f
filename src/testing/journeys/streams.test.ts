import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openManyStreams } from '../processes/many-streams.ts'

test('more streams than the default connection limit: each has a socket and ends', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-streams-'))
  try {
    const seen = await openManyStreams(join(dir, 'data'), 400)
    expect(seen).toMatchObject({ sockets: 400, done: 400, held: 0 })
  } finally {
    rmSync(dir, { recursive: true })
  }
}, 60_000)
