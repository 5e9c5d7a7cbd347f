import { afterAll, describe, expect, test } from 'bun:test'

import { end, head, send as sendStep, type Step } from '../../testing/fakes/chat-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'
import { makeWav } from '../../testing/fixtures/wav.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const headers = { 'user-agent': 'mistral-client-typescript/2.7.0' }
const get = (path: string): Promise<TestResponse> => gus.call('GET', path, undefined, headers)

async function send(
  path: string,
  fields: [string, string | File][],
  user: GatewayUser = gus,
): Promise<TestResponse> {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  const sent = new Response(form)
  const type = sent.headers.get('content-type') ?? ''
  return user.call('POST', path, await sent.bytes(), { ...headers, 'content-type': type })
}

describe('models', () => {
  test('have the type base and capabilities', async () => {
    const { body } = await get('/v1/models')
    const { object, data } = Object(body)
    expect(object).toBe('list')
    const all = Object((await t.request('GET', '/v1/models')).body).data
    expect(data).toHaveLength(all.length)
    expect(data.every(({ type }: { type: string }) => type === 'base')).toBe(true)
    const chat = await get('/v1/models/demo/chat')
    expect(chat.body).toEqual({
      id: 'demo/chat',
      object: 'model',
      created: 0,
      owned_by: 'demo',
      name: expect.any(String),
      description: null,
      max_context_length: expect.any(Number),
      aliases: [],
      deprecation: null,
      default_model_temperature: null,
      capabilities: {
        completion_chat: true,
        function_calling: true,
        completion_fim: false,
        fine_tuning: false,
        vision: expect.any(Boolean),
        ocr: false,
        classification: false,
        moderation: false,
        audio: false,
        audio_transcription: false,
        audio_speech: false,
      },
      type: 'base',
    })
    for (const [id, capability] of [
      ['demo/moderation', 'moderation'],
      ['demo/transcription', 'audio_transcription'],
      ['demo/speech', 'audio_speech'],
    ]) {
      const { body } = await get(`/v1/models/${id}`)
      const { capabilities } = Object(body)
      expect(Object.keys(capabilities).filter((name) => capabilities[name])).toEqual([
        `${capability}`,
      ])
    }
    expect((await get('/v1/models?type=music')).status).toBe(400)
    expect((await get('/v1/models/demo/none')).code).toBe('model_not_found')
  })
})

describe('files', () => {
  const upload = (name: string, purpose: string, more: [string, string][] = []) =>
    send('/v1/files', [['file', new File(['{"a":1}\n'], name)], ['purpose', purpose], ...more])

  test('are uploaded, listed, read and deleted in the format of Mistral', async () => {
    const made = await upload('calls.jsonl', 'batch', [['visibility', 'workspace']])
    const file = {
      id: expect.stringMatching(/^file_/),
      object: 'file',
      bytes: 8,
      created_at: expect.any(Number),
      expires_at: expect.any(Number),
      filename: 'calls.jsonl',
      purpose: 'batch',
      sample_type: 'batch_request',
      num_lines: null,
      mimetype: expect.stringMatching(/^text\/plain/),
      source: 'upload',
      signature: null,
      visibility: 'workspace',
    }
    expect([made.status, made.body]).toEqual([200, file])
    const id = made.text('id')
    expect((await get(`/v1/files/${id}`)).body).toEqual({ ...file, deleted: false })
    const content = await get(`/v1/files/${id}/content`)
    expect(content.body).toBe('{"a":1}\n')
    expect(content.headers.get('content-type')).toBe('application/octet-stream')
    const other = await upload('Notes.txt', 'ocr')
    for (const [query, names, total] of [
      ['', ['Notes.txt', 'calls.jsonl'], 2],
      ['?purpose=batch', ['calls.jsonl'], 1],
      ['?search=notes', ['Notes.txt'], 1],
      ['?sample_type=batch_request&sample_type=pretrain', ['calls.jsonl'], 1],
      ['?sample_type=instruct', ['Notes.txt'], 1],
      ['?source=mistral', [], 0],
      ['?page=1&page_size=1&include_total=false', [expect.any(String)], null],
      ['?page=2&page_size=1', [], 2],
    ] as const) {
      const { body } = await get(`/v1/files${query}`)
      const { object, data, total: counted } = Object(body)
      const found = data.map(({ filename }: { filename: string }) => filename)
      expect([query, object, found.toSorted(), counted]).toEqual([query, 'list', [...names], total])
    }
    for (const one of [id, other.text('id')]) {
      const { body } = await gus.call('DELETE', `/v1/files/${one}`, undefined, headers)
      expect(body).toEqual({ id: one, object: 'file', deleted: true })
    }
  })

  test('have a 400 for what this server does not have', async () => {
    const expiry = await upload('a.txt', 'ocr', [['expiry', '24']])
    expect([expiry.status, expiry.body]).toMatchObject([400, { error: { param: 'expiry' } }])
    expect(expiry.text('error.message')).toContain('expires_after[seconds]')
    const hidden = await upload('a.txt', 'ocr', [['visibility', 'user']])
    expect([hidden.status, hidden.body]).toMatchObject([400, { error: { param: 'visibility' } }])
    const signed = await get('/v1/files/file_AAAAAAAAAAAA/url?expiry=24')
    expect(signed.status).toBe(400)
    expect(signed.text('error.message')).toContain('GET /v1/files/file_AAAAAAAAAAAA/content')
    expect((await get('/v1/files?page_size=0')).status).toBe(400)
  })
})

describe('transcriptions', () => {
  const transcribe = (fields: [string, string | File][]) =>
    send('/v1/audio/transcriptions', [['model', 'demo/transcription'], ...fields])
  const sound = (): File => new File([new Uint8Array(makeWav())], 'said.wav')
  const usage = {
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    prompt_audio_seconds: 1,
    cost: expect.any(Number),
  }
  const whole = {
    model: 'demo/transcription',
    text: 'A sound of 0.5 seconds.',
    language: null,
    segments: [],
    usage,
  }

  test('have the fields of Mistral', async () => {
    const response = await transcribe([
      ['file', sound()],
      ['stream', 'false'],
      ['diarize', 'false'],
      ['context_bias', 'ahoy'],
    ])
    expect([response.status, response.body]).toEqual([200, whole])
    expect(Number(response.headers.get('x-service-cost'))).toBeGreaterThan(0)
    const timed = await transcribe([
      ['file', sound()],
      ['timestamp_granularities', 'segment'],
    ])
    expect(timed.body).toMatchObject({
      language: null,
      segments: [
        { type: 'transcription_segment', text: 'A sound of 0.5 seconds.', start: 0, end: 0.5 },
      ],
      usage: { prompt_audio_seconds: 1 },
    })
  })

  test('read an uploaded file', async () => {
    const made = await send('/v1/files', [['file', sound()]])
    const file_id = made.text('id')
    expect((await transcribe([['file_id', file_id]])).body).toEqual(whole)
    const form = new URLSearchParams({ model: 'demo/transcription', file_id })
    const type = 'application/x-www-form-urlencoded'
    const sent = { ...headers, 'content-type': type }
    const plain = await gus.call('POST', '/v1/audio/transcriptions', String(form), sent)
    expect(plain.body).toEqual(whole)
    const missing = await transcribe([['file_id', 'file_AAAAAAAAAAAA']])
    expect([missing.status, missing.body]).toMatchObject([404, { error: { param: 'file_id' } }])
  })

  test('stream the events of Mistral', async () => {
    const { body } = await transcribe([
      ['file', sound()],
      ['stream', 'true'],
    ])
    const events = String(body)
      .trim()
      .split('\n\n')
      .map((event) => event.match(/^event: (.*)\ndata: (.*)$/)?.slice(1))
      .map((event) => [event?.[0], JSON.parse(event?.[1] ?? '{}')])
    expect(events).toEqual([
      [
        'transcription.text.delta',
        { type: 'transcription.text.delta', text: 'A sound of 0.5 seconds.' },
      ],
      ['transcription.done', { type: 'transcription.done', ...whole }],
    ])
  })

  test('relay the stream of an upstream', async () => {
    const model = mediaModel('transcription', 'transcription-ok')
    const faked = await startFakeUpstreamServer({}, [model])
    const ned = await faked.gus()
    const event = (fields: object): Step => sendStep(`data: ${JSON.stringify(fields)}\n\n`)
    const used = { type: 'tokens', input_tokens: 11, output_tokens: 5, total_tokens: 16 }
    faked.fake.script('fake/transcription-ok', [
      sendStep(`${head(200, 'text/event-stream')}\r\n`),
      event({ type: 'transcript.text.delta', delta: 'Hello ' }),
      event({ type: 'transcript.text.delta', delta: 'wörld' }),
      event({ type: 'transcript.text.done', text: 'Hello wörld', usage: used }),
      end,
    ])
    const fields: [string, string | File][] = [
      ['model', model.id],
      ['stream', 'true'],
      ['file', sound()],
    ]
    const { body } = await send('/v1/audio/transcriptions', fields, ned)
    const data = [...String(body).matchAll(/^data: (.*)$/gm)].map(([, text = '']) =>
      JSON.parse(text),
    )
    expect(data).toEqual([
      { type: 'transcription.text.delta', text: 'Hello ' },
      { type: 'transcription.text.delta', text: 'wörld' },
      {
        type: 'transcription.done',
        model: model.id,
        text: 'Hello wörld',
        language: null,
        segments: [],
        usage: {
          prompt_tokens: 11,
          completion_tokens: 5,
          total_tokens: 16,
          prompt_audio_seconds: 1,
        },
      },
    ])
    expect(await faked.findProblems(ned)).toEqual([])
    await faked.close()
  })

  test('have a 400 for what this server does not have', async () => {
    for (const [name, value] of [
      ['file_url', 'https://example.com/a.wav'],
      ['speaker_references', '{}'],
    ] as const) {
      const response = await transcribe([[name, value]])
      expect([response.status, response.body]).toMatchObject([400, { error: { param: name } }])
    }
    expect((await transcribe([])).body).toMatchObject({ error: { param: 'file' } })
  })
})
