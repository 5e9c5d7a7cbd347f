import { afterAll, beforeEach, expect, test } from 'bun:test'

import { chunked, fakeText } from '../../testing/fakes/chat-scripts.ts'
import { fakeImage } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

/** A guardrail that refuses texts with "forbidden", hangs for "slow" and fails for "broken". */
function startGuardrail() {
  const questions: Record<string, unknown>[] = []
  const state = { word: 'forbidden' }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const question: unknown = await request.json()
      questions.push({ ...Object(question), authorization: request.headers.get('authorization') })
      const text = JSON.stringify(question)
      if (text.includes('slow')) return new Promise<Response>(() => {})
      if (text.includes('broken')) return new Response('<html>', { status: 200 })
      if (text.includes(state.word)) {
        return Response.json({ allow: false, reason: 'No such words' })
      }
      return Response.json({ allow: true })
    },
  })
  return { questions, state, url: server.url.origin, stop: () => server.stop(true) }
}

const guardrail = startGuardrail()
const start = (settings: Record<string, string>) =>
  startFakeUpstreamServer(
    {
      GUARDRAIL_URL: `${guardrail.url}/check`,
      GUARDRAIL_TOKEN: 'tok',
      GUARDRAIL_MS: '400',
      ...settings,
    },
    [
      mediaModel('edit', 'image-ok'),
      mediaModel('speech', 'speech-ok'),
      mediaModel('transcription', 'transcription-ok'),
      mediaModel('translation', 'translation-ok'),
    ],
    {},
    'google',
  )
const faked = await start({ GUARDRAIL_OUTPUT: 'on' })
const gus = await faked.gus('50')
beforeEach(() => {
  guardrail.questions.length = 0
  guardrail.state.word = 'forbidden'
})
afterAll(async () => {
  await faked.close()
  await guardrail.stop()
})

async function chat(content: unknown, more: object = {}, server = faked, by = gus) {
  const before = server.fake.received.length
  const body = { model: 'fake/ok', messages: [{ role: 'user', content }], max_tokens: 50, ...more }
  const response = await by.call('POST', '/v1/chat/completions', body)
  return { response, calls: server.fake.received.length - before }
}

test('guardrail_refused: the request calls no model, costs nothing and names the reason', async () => {
  for (const stream of [false, true]) {
    const before = await faked.snapshot()
    const { response, calls } = await chat('This is forbidden.', { stream })
    expect([response.status, response.code, calls]).toEqual([400, 'content_policy_violation', 0])
    expect(Object(response.body).error.message).toContain('No such words. Nothing was charged.')
    expect(await faked.snapshot()).toEqual(before)
  }
  const image = await gus.call('POST', '/v1/embeddings', { model: 'fake/ok', input: 'forbidden' })
  expect(image.status).toBe(400)
})

async function upload(path: string, fields: Record<string, string | File>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const body = new Response(form)
  const type = body.headers.get('content-type') ?? ''
  return gus.call('POST', path, await body.bytes(), { 'content-type': type })
}

test('the guardrail checks the prompt of a form, but not its files', async () => {
  const before = faked.fake.received.length
  const response = await upload('/v1/images/edits', {
    model: 'edit/image-ok',
    prompt: 'A forbidden boat',
    image: new File([Buffer.from(fakeImage, 'base64')], 'a.png'),
  })
  expect([response.status, response.code, faked.fake.received.length - before]).toEqual([
    400,
    'content_policy_violation',
    0,
  ])
  expect(guardrail.questions).toMatchObject([{ input: { prompt: 'A forbidden boat' } }])
})

test('a guardrail gets the request without its media, and the response', async () => {
  const url = `data:image/png;base64,${'A'.repeat(300)}`
  const parts = [{ type: 'text', text: 'Look.' }]
  expect((await chat(parts)).response.status).toBe(200)
  expect(guardrail.questions).toMatchObject([
    {
      stage: 'input',
      model: 'fake/ok',
      account: `gateway:${gus.creditId}`,
      key: gus.key.slice(0, 11),
      authorization: 'Bearer tok',
      input: { messages: [{ role: 'user', content: parts }] },
    },
    { stage: 'output', output: [{ message: { content: fakeText.join('') } }] },
  ])
  await chat([...parts, { type: 'image_url', image_url: { url } }])
  expect(JSON.stringify(guardrail.questions)).not.toContain('AAAA')
})

test('a refused response reaches no client and costs nothing, also as a stream', async () => {
  const [word = ''] = fakeText
  guardrail.state.word = `"output":`
  for (const stream of [false, true]) {
    const { response, calls } = await chat('Hello.', { stream })
    expect([stream, response.status, response.code, calls]).toEqual([
      stream,
      400,
      'content_policy_violation',
      1,
    ])
    expect(JSON.stringify(response.body)).not.toContain(word)
    expect(Number((await faked.lastUse(gus)).use?.charged)).toBe(0)
  }
  guardrail.state.word = 'forbidden'
  const { response } = await chat('Hello.', { stream: true })
  expect(String(response.body)).toContain('[DONE]')
  expect((await faked.lastUse(gus)).use?.charged).toBeGreaterThan(0n)
  const cut = await chat('Hello.', { stream: true, model: 'fake/reset-middle' })
  expect([cut.response.status, Number((await faked.lastUse(gus)).use?.charged)]).toEqual([502, 0])
  expect(await faked.findProblems(gus)).toEqual([])
})

test('the response of an upstream of Google is checked in its own API', async () => {
  const path = '/v1beta/models/fake/google-ok:'
  const body = { contents: [{ parts: [{ text: 'Hello.' }] }] }
  for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
    guardrail.state.word = 'forbidden'
    expect((await gus.call('POST', path + method, body)).status).toBe(200)
    expect(JSON.stringify(guardrail.questions.at(-1))).toContain(fakeText.join(''))
    guardrail.state.word = `"output":`
    const { status, body: rejected } = await gus.call('POST', path + method, body)
    expect([status, rejected]).toMatchObject([
      400,
      { error: { status: 'INVALID_ARGUMENT', details: [{ reason: 'content_policy_violation' }] } },
    ])
    expect(Number((await faked.lastUse(gus)).use?.charged)).toBe(0)
  }
})

test('the text of speech is checked before, that of audio after it is known', async () => {
  const calls = faked.fake.received.length
  const speech = { model: 'speech/speech-ok', input: 'forbidden' }
  const spoken = await gus.call('POST', '/v1/audio/speech', speech)
  expect([spoken.status, spoken.code, faked.fake.received.length - calls]).toEqual([
    400,
    'content_policy_violation',
    0,
  ])
  expect(guardrail.questions).toMatchObject([{ stage: 'input', input: { input: 'forbidden' } }])

  const file = new File([new Uint8Array(makeWav())], 'a.wav')
  const paths = [
    ['/v1/audio/transcriptions', 'transcription/transcription-ok'],
    ['/v1/audio/translations', 'translation/translation-ok'],
  ] as const
  for (const [path, model] of paths) {
    guardrail.questions.length = 0
    const allowed = await upload(path, { model, file, prompt: 'Names' })
    expect(allowed.body).toMatchObject({ text: 'Hello wörld' })
    expect(guardrail.questions).toMatchObject([
      { stage: 'input', model, input: { prompt: 'Names' } },
      { stage: 'output', model, output: 'Hello wörld' },
    ])
    guardrail.state.word = 'Hello'
    for (const response_format of ['json', 'verbose_json', 'text', 'srt']) {
      const response = await upload(path, { model, file, response_format })
      expect([response.status, response.code]).toEqual([400, 'content_policy_violation'])
      expect(JSON.stringify(response.body)).not.toContain('Hello')
      expect(Number((await faked.lastUse(gus)).use?.charged)).toBe(0)
    }
    guardrail.state.word = 'forbidden'
  }

  // The upstream gets no request for a stream, whose text would reach the client unchecked.
  const [[path, model]] = paths
  const events = await upload(path, { model, file, stream: 'true' })
  expect(String(events.body)).toContain('transcript.text.done')
  expect(faked.fake.received.at(-1)?.text).not.toContain('name="stream"')
  guardrail.state.word = 'Hello'
  expect((await upload(path, { model, file, stream: 'true' })).status).toBe(400)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('the guardrail checks every choice of a stream, with its reasoning and speech', async () => {
  const deltas = [
    { index: 0, delta: { content: 'Hi' } },
    { index: 1, delta: { reasoning_content: 'hidden' } },
    { index: 1, delta: { audio: { transcript: 'spoken' } } },
    { index: 1, delta: {}, finish_reason: 'stop' },
  ]
  const pieces = deltas.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`)
  faked.fake.script('fake/ok-one-piece', chunked([...pieces, 'data: [DONE]\n\n']))
  for (const word of ['hidden', 'spoken']) {
    guardrail.state.word = word
    const { response } = await chat('Hello.', {
      model: 'fake/ok-one-piece',
      stream: true,
      n: 2,
    })
    expect([word, response.status]).toEqual([word, 400])
  }
})

test('the guardrail checks a relayed response, whole and streamed', async () => {
  for (const stream of [false, true]) {
    const body = { model: 'fake/ok', input: 'Hello.', stream }
    guardrail.state.word = 'wörld'
    const rejected = await gus.call('POST', '/v1/responses', body)
    expect([rejected.status, rejected.code]).toEqual([400, 'content_policy_violation'])
    guardrail.state.word = 'forbidden'
    const allowed = await gus.call('POST', '/v1/responses', body)
    expect(JSON.stringify(allowed.body)).toContain('resp_fake')
    expect(faked.fake.received.at(-1)?.path).toBe('/v1/responses')
  }
  expect(guardrail.questions.filter(({ stage }) => stage === 'output')).toHaveLength(4)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('a realtime session, whose events cannot be checked, is refused', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const response = await fetch(`${faked.origin}/v1/realtime?model=fake/ok`, {
    headers: {
      ...headers,
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      authorization: `Bearer ${gus.key}`,
    },
  })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('The operator checks every request')
})

test('guardrail_failed: a guardrail that hangs refuses requests, or lets them run', async () => {
  for (const content of ['slow', 'broken']) {
    const { response, calls } = await chat(content)
    expect([content, response.status, calls]).toEqual([content, 503, 0])
    expect(response.headers.get('retry-after')).toBe('1')
  }
  const open = await start({ GUARDRAIL_FAILURE: 'allow' })
  const by = await open.gus('5')
  for (const content of ['slow', 'broken']) {
    const { response, calls } = await chat(content, {}, open, by)
    expect([content, response.status, calls]).toEqual([content, 200, 1])
  }
  expect((await chat('forbidden', {}, open, by)).response.status).toBe(400)
  await open.close()
})
