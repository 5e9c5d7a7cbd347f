import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../config/load.ts'
import { serve } from './server.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-serve-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

const quiet = { OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off', DATABASE_URL: '' }
const configOf = (more: Record<string, string> = {}) =>
  loadConfig({ DATA_DIR: dir, PORT: '0', ...quiet, ...more }, {})

test.each(['nowhere.invalid', '192.0.2.1'])(
  'an unknown HOST is named in the error: %s',
  async (HOST) => {
    await expect(serve(configOf({ HOST }))).rejects.toThrow(
      `cannot listen on HOST ${HOST} and PORT 0`,
    )
  },
)

test('a database that does not respond does not prevent a stop', async () => {
  const { ctx, origin, stop } = await serve(configOf())
  expect((await fetch(`${origin}/readyz`)).status).toBe(200)
  const close = ctx.db.close
  Object.assign(ctx.db, { close: () => new Promise(() => {}) })
  await stop()
  await expect(fetch(`${origin}/healthz`)).rejects.toThrow()
  await close()
}, 30_000)
