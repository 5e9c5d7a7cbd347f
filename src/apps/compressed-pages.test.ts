import { expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { hour } from '../kernel/time.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
import * as apps from './apps.ts'
import { readPage, recompressOne } from './page-content.ts'

const lines = Array.from({ length: 3_000 }, (_, at) => `<p>line ${at * 7_919} of the page</p>`)
const html = `<!doctype html><title>Long</title>${lines.join('\n')}`

test('recompresses a settled page once without changing its content', async () => {
  const { ctx, clock, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const id = await ann.publish({ html })
  expect(await recompressOne(ctx)).toBe(false)

  clock.advance(hour)
  const before = await apps.getVersion(ctx, id, 1)
  expect(await recompressOne(ctx)).toBe(true)
  const after = await apps.getVersion(ctx, id, 1)
  expect(after.brBytes).toBeLessThan(before.brBytes)
  const { br, identity } = await readPage(ctx, after)
  expect(new TextDecoder().decode(identity)).toBe(html)
  expect(brotliDecompressSync(br ?? new Uint8Array()).toString()).toBe(html)
  expect(await recompressOne(ctx)).toBe(false)
  await close()
})

test('stores variants of a page that are smaller than it', async () => {
  const { ctx, agent, close } = await startTestServer()
  const ann = await agent('ann')
  const page = await apps.getVersion(ctx, await ann.publish({ html }), 1)
  const { br, gzip } = await readPage(ctx, page)
  expect(brotliDecompressSync(br ?? new Uint8Array()).toString()).toBe(html)
  expect(gunzipSync(gzip ?? new Uint8Array()).toString()).toBe(html)
  const tiny = await apps.getVersion(ctx, await ann.publish({ html: '<h1>Tiny' }), 1)
  expect(await readPage(ctx, tiny)).toEqual({ identity: new TextEncoder().encode('<h1>Tiny') })
  await close()
})
