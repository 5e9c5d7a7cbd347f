import { afterEach, expect, test } from 'bun:test'

import { zipSync } from 'fflate'

import { expectError } from '../../testing/expect-error.ts'
import { skillText } from '../../testing/fixtures/folders.ts'
import { noise } from '../../testing/fixtures/random.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { buildZip } from '../../testing/fixtures/zips.ts'
import { ZipReader } from './request.ts'

const mb = 1_048_576
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const open: { close(): void | Promise<void> }[] = []
const newReader = (...limits: ConstructorParameters<typeof ZipReader>): ZipReader => {
  const reader = new ZipReader(...limits)
  open.push(reader)
  return reader
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const bombBytes = 150 * mb
/** A zip of 150 KB whose only file is 150 MB. */
const bomb = buildZip([{ name: 'bomb', text: '\0'.repeat(bombBytes) }])
const bounds = { bytesMax: 400 * mb, filesMax: 10 }

test('a zip past its memory ends its process, not the server; the next zip is read', async () => {
  const reader = newReader({ memoryBytes: 64 * mb })
  const before = process.memoryUsage.rss()
  const reasons = ['the zip cannot be read: it took too much memory. Send a smaller one.']
  expect(await reader.read(bomb, bounds)).toEqual({ reasons })
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * mb)
  const files = [{ path: 'large.txt', bytes: new Uint8Array(2 * mb).fill(0x61) }]
  const zip = zipSync({ 'top/large.txt': files[0]?.bytes ?? new Uint8Array() })
  expect(await reader.read(zip)).toEqual({ files })
})

test('a zip that takes too long is stopped', async () => {
  const reasons = ['the zip cannot be read: it took too long. Send a smaller one.']
  expect(await newReader({ cpuMs: 1 }).read(bomb, bounds)).toEqual({ reasons })
})

test('small zips are read at once, and large bounds of the caller hold', async () => {
  const reader = newReader()
  expect(await reader.read(bomb)).toEqual({ tooLarge: bombBytes, max: 2 * mb })
  const [a, b] = [bytesOf('one'), bytesOf('two')]
  expect(await reader.read(zipSync({ a, b }))).toMatchObject({
    files: [{ path: 'a' }, { path: 'b' }],
  })
})

const publish = (t: TestServer, key: string, body: Uint8Array) =>
  t.call('POST', '/skills', { key, body, headers: { 'content-type': 'application/zip' } })

test('a large skill is published from a zip; a bomb that lies about its size is not', async () => {
  const t = await startTestServer()
  open.push(t)
  const ann = await t.agent('ann')
  const text = 'Write one line for each change.\n'.repeat(6_000)
  const notes = Array.from({ length: 8 }, (_, at) => [`references/${at}.md`, bytesOf(text)])
  const files = { 'SKILL.md': bytesOf(skillText()), ...Object.fromEntries(notes) }
  const published = await publish(t, ann.key, zipSync(files))
  expect(published.status).toBe(201)
  const stored = await t.call('GET', `/skills/${published.text('skill.id')}`, { key: ann.key })
  expect(Object(stored.body).files).toHaveLength(9)

  const bytes = noise(65_536, 1)
  const noiseFiles = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`${at}`, bytes]))
  const liar = Buffer.from(zipSync({ ...noiseFiles, 'SKILL.md': new Uint8Array(8 * mb) }))
  // The directory of the archive and the header claim 10 bytes.
  for (const [signature, at] of [
    ['PK\x01\x02', 24],
    ['PK\x03\x04', 22],
  ] as const) {
    liar.writeUInt32LE(10, liar.lastIndexOf(Buffer.from(signature, 'latin1')) + at)
  }
  const no = await expectError(t, 400, 'bad_skill', () => publish(t, ann.key, new Uint8Array(liar)))
  expect(JSON.stringify(no.body)).toContain('is larger than the zip says')
})
