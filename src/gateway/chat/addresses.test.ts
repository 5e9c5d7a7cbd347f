import { afterAll, expect, test } from 'bun:test'

import { isRecord } from '../../kernel/schema.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { internalHosts } from '../../testing/fixtures/internal-hosts.ts'

let touched = 0
const canary = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: { open: () => void (touched += 1), data: (socket) => void socket.end() },
})
const inputs = ['text', 'image', 'file', 'audio', 'video']
/** Request URLs are not fetched, and private ones are not forwarded. */
const faked = await startFakeUpstreamServer({}, [
  { ...fakeModel('ok', { inputs }), id: 'fake/watches' },
])
const gus = await faked.gus()
afterAll(async () => {
  canary.stop(true)
  await faked.close()
})

type Part = Record<string, unknown>
const partsAt = (url: string): Part[] => [
  { type: 'image_url', image_url: { url } },
  { type: 'image_url', image_url: url },
  { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', data: url } },
  { type: 'video_url', video_url: { url } },
  { type: 'file', file: { filename: 'a.pdf', file_data: url } },
  { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', file_url: url } },
  { type: 'document_url', document_url: url },
  { type: 'document_url', document_url: { url: 'data:application/pdf;base64,AA', file_url: url } },
  { type: 'input_audio', input_audio: { data: url, format: 'mp3' } },
  { type: 'input_audio', input_audio: url },
]
const ask = (...parts: Part[]) =>
  gus.call('POST', '/v1/chat/completions', {
    model: 'fake/watches',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'See.' }, ...parts] }],
  })

test.each(internalHosts)(
  '%s is rejected in every part, before anything is sent or held',
  async (host) => {
    const before = [await faked.snapshot(), faked.fake.received.length]
    for (const part of partsAt(`http://${host}:${canary.port}/a.png`)) {
      const { status, body } = await ask(part)
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { error: { type: 'invalid_request_error', param: 'messages' } },
      })
    }
    const input = [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: `http://${host}:${canary.port}/a.png` }],
      },
    ]
    const responses = await gus.call('POST', '/v1/responses', { model: 'fake/watches', input })
    expect(responses.status).toBe(400)
    const url = `http://${host}:${canary.port}/a.png`
    for (const [path, model] of [
      ['/v1/images/generations', 'image/image-ok'],
      ['/v1/videos', 'video/film-ok'],
    ] as const) {
      for (const more of [{ image: url }, { image_urls: [url] }, { start: { at: { url } } }]) {
        const { status, body } = await gus.call('POST', path, { model, prompt: 'A boat', ...more })
        const param = Object.keys(more).join()
        expect({ status, body }).toMatchObject({ status: 400, body: { error: { param } } })
      }
    }
    expect([await faked.snapshot(), faked.fake.received.length]).toEqual(before)
    expect(touched).toBe(0)
  },
)

test('other schemes and strings that are not URLs are rejected', async () => {
  for (const url of [
    'file:///etc/passwd',
    'ftp://a.example/',
    'gs://a/b',
    '/etc/passwd',
    'x',
    '',
  ]) {
    expect((await ask({ type: 'image_url', image_url: { url } })).status).toBe(400)
  }
  for (const file_data of ['file:///etc/passwd', 'unix:/var/run/docker.sock']) {
    expect((await ask({ type: 'file', file: { file_data } })).status).toBe(400)
  }
})

test('public URLs and data URLs are forwarded unchanged and not fetched', async () => {
  const at = 'https://canary.example/a'
  const video = { type: 'video_url', video_url: { url: `http://8.8.8.8:${canary.port}/` } }
  const data = 'data:application/pdf;base64,AA'
  const parts = [
    { type: 'image_url', image_url: { url: at, detail: 'low' } },
    { type: 'image_url', image_url: { url: 'DATA:image/png;base64,iVBORw0KGgo=' } },
    video,
    { type: 'file', file: { filename: 'C:a.pdf', file_data: data } },
    { type: 'file', file: { filename: 'b.pdf', file_data: 'JVBERi0=' } },
    { type: 'file', file: { file_data: at } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
  ]
  expect((await ask(...parts)).status).toBe(200)
  const { messages } = faked.fake.received.at(-1)?.body ?? {}
  const [message]: unknown[] = Array.isArray(messages) ? messages : []
  expect(isRecord(message) && message.content).toEqual([{ type: 'text', text: 'See.' }, ...parts])
  expect(touched).toBe(0)
})
