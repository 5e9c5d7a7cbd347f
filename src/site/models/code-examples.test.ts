import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createGatewayUser, serveGateway } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'
import { codeExample, exampleBody } from './code-examples.ts'
import { type RequestMode, requestModes } from './modes.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-examples-'))

const t = await startTestServer()
const served = serveGateway(t)
const { key } = await createGatewayUser(t, '5')
await Bun.write(join(folder, 'audio.mp3'), makeWav())
afterAll(async () => {
  await served.stop()
  await t.close()
  rmSync(folder, { recursive: true })
})

/** Runs a command in the folder, with the key in its environment. */
async function run(command: string[], input = ''): Promise<string> {
  const modules = join(import.meta.dir, '../../../node_modules')
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: Bun.env.PATH, KEY: key, NODE_PATH: modules },
    stdin: new Blob([input]),
    stderr: 'ignore',
  })
  return new Response(child.stdout).text()
}

const example = (
  language: 'curl' | 'javascript',
  mode: RequestMode,
  gateway = served.origin,
): string =>
  codeExample(language, {
    mode,
    gateway,
    body: exampleBody(mode, `demo/${mode}`),
  })

test('runs the curl example of every kind of model', async () => {
  const results: Record<RequestMode, RegExp> = {
    chat: /"content":\s?"Name a small boat\."/,
    image: /"url":/,
    video: /"status":\s?"pending"/,
    speech: /^$/,
    transcription: /"text":/,
    embedding: /"embedding":/,
    moderation: /"flagged":/,
    rerank: /"results":/,
  }
  for (const mode of requestModes) {
    // The second command of a video needs the ID of the first.
    const [first = ''] = example('curl', mode).split('\n\n')
    expect([mode, await run(['sh', '-c', first])]).toEqual([
      mode,
      expect.stringMatching(results[mode]),
    ])
  }
  expect(await Bun.file(join(folder, 'speech.wav')).slice(0, 4).text()).toBe('RIFF')
})

test('runs the JavaScript examples', async () => {
  const results: Record<RequestMode, RegExp> = {
    chat: /^Name a small boat\.\n$/,
    image: /^http.*\/v1\/images\//,
    video: /^http:\/\/localhost\/boat\.mp4\n$/,
    speech: /^$/,
    transcription: /second/,
    embedding: /^\d+\n$/,
    moderation: /^false\n$/,
    rerank: /^2\n$/,
  }
  rmSync(join(folder, 'speech.wav'))
  // A video takes minutes, so a stub completes it at once.
  const stub = Bun.serve({
    port: 0,
    fetch: () => Response.json({ status: 'completed', url: 'http://localhost/boat.mp4' }),
  })
  const outputs = await Promise.all(
    requestModes.map(async (mode) => {
      const origin = mode === 'video' ? stub.url.origin : served.origin
      const code = example('javascript', mode, origin)
      return [mode, await run([process.execPath, 'run', '-'], code)]
    }),
  )
  await stub.stop(true)
  expect(outputs).toEqual(requestModes.map((mode) => [mode, expect.stringMatching(results[mode])]))
  expect(await Bun.file(join(folder, 'speech.wav')).slice(0, 4).text()).toBe('RIFF')
})

test('quotes bodies for the shell and for Python', () => {
  const body = { model: 'a', messages: [{ role: 'user', content: "It's $5" }], stream: false }
  const request = { mode: 'chat' as const, gateway: 'http://localhost', body }
  expect(codeExample('curl', request)).toContain(`"It'\\''s $5"`)
  const python = codeExample('python', request)
  expect(python).toContain('stream=False,')
  expect(python).toContain(`"content": "It's $5",`)
})
