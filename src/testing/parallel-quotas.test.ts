/** Parallel writers of one owner never store more than its quota, and fill it as one would. */
import { afterEach, expect, test } from 'bun:test'

import { sha256 } from '../kernel/ids.ts'
import { unfundedFileBytesMax } from '../kernel/limits.ts'
import { createGatewayUser } from './fixtures/gateway.ts'
import { makePdf } from './fixtures/pdf.ts'
import { seeded } from './fixtures/random.ts'
import { startTestServer, type TestServer } from './fixtures/test-server.ts'

let t: TestServer
afterEach(() => t.close())

const mb = 1_048_576
const storedBytes = async () => (await t.ctx.storage.usage()).bytes

async function formOf(name: string, content: string | Uint8Array<ArrayBuffer>) {
  const form = new FormData()
  form.append('file', new File([content], name))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return { headers, body: await sent.bytes() }
}

test('parallel uploads of an account', async () => {
  t = await startTestServer()
  for (const seed of [1, 2, 3]) {
    const random = seeded(seed)
    const user = await createGatewayUser(t)
    const before = await storedBytes()
    const sizes = Array.from({ length: 12 }, () => Math.ceil((1 + random() * 7) * mb))
    const all = await Promise.all(
      sizes.map(async (size, at) => {
        const upload = await formOf('a.txt', `${seed} ${at} `.padEnd(size, 'a'))
        const from = `198.51.${seed}.1`
        const { status } = await t.request('POST', '/v1/files', { key: user.key, from, ...upload })
        return { status, size }
      }),
    )
    const accepted = all.filter(({ status }) => status === 200)
    const bytes = accepted.reduce((sum, { size }) => sum + size, 0)
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect(bytes).toBeLessThanOrEqual(unfundedFileBytesMax)
    expect((await storedBytes()) - before).toBe(bytes)
  }
}, 60_000)

test('the text of a PDF counts as bytes of its upload', async () => {
  t = await startTestServer()
  const { key } = await createGatewayUser(t)
  const from = '198.51.100.1'
  const { unfundedUploads } = t.ctx.state.limits
  const calls = async () => (await unfundedUploads.left('198.51.100.0/24')).calls
  const before = await calls()
  const pdf = new Uint8Array(makePdf(['Hello tide '.repeat(100)]))
  const upload = await formOf('a.pdf', pdf)
  expect((await t.request('POST', '/v1/files', { key, from, ...upload })).status).toBe(200)
  expect(before - (await calls())).toBe(await storedBytes())
  expect(await storedBytes()).toBeGreaterThan(pdf.length)
})

test('parallel publishes of an agent', async () => {
  const max = 3_000_000
  t = await startTestServer({ BYTES_PER_AGENT: String(max) })
  const ann = await t.agent('ann')
  const page = (at: number) => `<!doctype html><title>${at}</title>${'<p>x</p>'.repeat(50_000)}`
  const pages = Array.from({ length: 12 }, (_, at) => page(at))
  const all = await Promise.all(pages.map((html) => ann.call('POST', '/apps', { html })))
  const accepted = all.filter(({ status }) => status === 201).length
  expect(all.filter(({ status }) => status === 409)).toHaveLength(12 - accepted)
  expect(accepted).toBe(Math.floor(max / page(1).length))
  const { files } = await t.ctx.storage.usage()
  expect(files).toBe(accepted)
}, 60_000)

test('a failed publish frees its reservation', async () => {
  t = await startTestServer({ PUBLISHES_PER_HOUR: '2' })
  const ann = await t.agent('ann')
  const send = (at: number) => ann.call('POST', '/apps', { html: `<title>${at}</title>` })
  const all = await Promise.all([1, 2, 3, 4, 5].map(send))
  expect(all.filter(({ status }) => status === 201)).toHaveLength(2)
  expect((await t.ctx.storage.usage()).files).toBe(2)
  t.clock.advance(2 * 3_600_000)
  expect((await send(6)).status).toBe(201)
})

const storedSizes = async (names: string[]): Promise<number> =>
  (await Promise.all(names.map((name) => t.ctx.storage.has(name)))).filter(Boolean).length

test('parallel versions with files: no byte is stored beyond the quota', async () => {
  t = await startTestServer({ BYTES_PER_AGENT: '300000' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const data = (at: number) => JSON.stringify([at, 'x'.repeat(100_000)])
  const all = await Promise.all(
    [1, 2, 3, 4, 5].map((at) =>
      ann.call('POST', `/apps/${id}/versions`, {
        files: [
          { path: 'index.html', text: '<title>Tide</title><script>fetch("data.json")</script>' },
          { path: 'data.json', text: data(at) },
        ],
      }),
    ),
  )
  expect(all.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
  expect(await storedSizes([1, 2, 3, 4, 5].map((at) => sha256(data(at))))).toBe(2)
})

test('generated assets: none is stored beyond the quota', async () => {
  t = await startTestServer({ BYTES_PER_AGENT: '300' })
  const ann = await t.agent('ann')
  const id = await ann.publish()
  const before = (await t.ctx.storage.usage()).files
  const request = { assets: [{ name: 'boat.png', kind: 'sprite', what: 'a boat' }] }
  const begun = await ann.call('POST', `/apps/${id}/assets`, request)
  expect(begun.status).toBe(202)
  await t.ctx.jobs.runDue()
  const { body } = await ann.call('GET', `/jobs/${begun.text('job.id')}`)
  expect(body).toMatchObject({ job: { state: 'failed', error: { code: 'storage_full' } } })
  expect((await t.ctx.storage.usage()).files).toBe(before)
  expect(t.ctx.state.reservations.size).toBe(0)
})
