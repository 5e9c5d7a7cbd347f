/** Stored files support range requests (RFC 9110, section 14), which media players need. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startServerProcess, textAt } from '../processes/server-process.ts'
import { until } from '../until.ts'

const dir = mkdtempSync(join(tmpdir(), 'berth-ranges-'))
const ctx = await startServerProcess(join(dir, 'data'))
const key = await ctx.newKey()
afterAll(async () => {
  ctx.kill('SIGKILL')
  await ctx.exited
  rmSync(dir, { recursive: true })
})

/** Requests the whole file, a part in the middle, the end, and a range behind the end. */
async function expectRanges(url: string): Promise<void> {
  const whole = await fetch(url)
  expect(whole.status).toBe(200)
  const bytes = await whole.bytes()
  const getRange = (range: string) => fetch(url, { headers: { range: `bytes=${range}` } })
  for (const [range, part] of [
    ['10-19', bytes.slice(10, 20)],
    ['-7', bytes.slice(-7)],
    ['5-', bytes.slice(5)],
  ] as const) {
    const response = await getRange(range)
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toEndWith(`/${bytes.length}`)
    expect(response.headers.get('content-type')).toBe(whole.headers.get('content-type'))
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(await response.bytes()).toEqual(part)
  }
  expect((await getRange(`${bytes.length}-`)).status).toBe(416)
}

test('serves an asset by range at its signed URL', async () => {
  const html = '<!doctype html><title>Sound</title><p>Press a key'
  const app = textAt(await (await ctx.call('POST', '/api/apps', key, { html })).json(), 'app.id')
  const json = new TextEncoder().encode(JSON.stringify(Array.from({ length: 99 }, (_, at) => at)))
  const put = await ctx.call('PUT', `/api/apps/${app}/assets/a.json`, key, json)
  await expectRanges(textAt(await put.json(), 'asset.url'))
})

test('serves an image and a video by range at their signed URLs', async () => {
  const imageRequest = { model: 'demo/image', prompt: 'a harbour' }
  const made = await ctx.call('POST', '/v1/images/generations', key, imageRequest)
  await expectRanges(textAt(await made.json(), 'data.0.url'))

  const videoRequest = { model: 'demo/video', prompt: 'a harbour', seconds: '1' }
  const { id } = Object(await (await ctx.call('POST', '/v1/videos', key, videoRequest)).json())
  const url = await until(async () => {
    const video = Object(await (await ctx.call('GET', `/v1/videos/${id}`, key)).json())
    return typeof video.url === 'string' && String(video.url)
  })
  await expectRanges(url)
}, 60_000)
