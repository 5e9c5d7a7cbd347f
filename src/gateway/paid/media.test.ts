import { afterAll, describe, expect, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { minute, second } from '../../kernel/time.ts'
import { fakeImage } from '../../testing/fakes/media-scripts.ts'
import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import {
  type MediaKind,
  mediaKinds,
  mediaModel,
  mediaModels,
  mediaPrices,
  mediaUpstream,
} from '../../testing/fixtures/media-models.ts'
import { testModel } from '../../testing/fixtures/models.ts'
import type { TestResponse } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

/** The kinds differ before anything is stored, so PostgreSQL gets one of JSON and one of a form. */
const kinds: MediaKind[] = dialect === 'postgres' ? ['embedding', 'edit'] : [...mediaKinds]

const unpriced = kinds.map((kind) => {
  const model = { ...mediaModel(kind, 'ok'), id: `${kind}/unpriced` }
  return {
    ...model,
    price: undefined,
    offers: [{ upstream: 'ok', model: 'ok', price: undefined }],
  }
})
const fallback = kinds.map((kind) => {
  const price = testModel(mediaPrices[kind]).price
  const offers = ['500', `${kind}-ok`].map((name) => ({
    upstream: `${mediaUpstream}fallback of ${kind}: ${name}`,
    model: `fake/${name}`,
    price,
  }))
  return { ...mediaModel(kind, 'ok'), id: `${kind}/fallback`, offers }
})
const patient = await startFakeUpstreamServer({}, [...mediaModels(), ...unpriced, ...fallback])
const deadlines = { GATEWAY_FIRST_BYTE_SECONDS: '1', GATEWAY_TOTAL_SECONDS: '2' }
/** For hanging upstreams. No other call may reach a deadline. */
const hasty = await startFakeUpstreamServer(deadlines, mediaModels())
afterAll(async () => {
  await patient.close()
  await hasty.close()
})
const requests: Record<
  MediaKind,
  { path: string; body?: object; form?: () => FormData; held: number }
> = {
  // 1,000 tokens for what templates add, and the bytes of the body.
  embedding: { path: '/v1/embeddings', body: { input: 'Hello' }, held: 1_017_000 },
  image: { path: '/v1/images/generations', body: { prompt: 'A boat', n: 2 }, held: 40_000_000 },
  speech: { path: '/v1/audio/speech', body: { input: 'Hello' }, held: 50_000 },
  transcription: {
    path: '/v1/audio/transcriptions',
    form: () => formOf({ file: sound() }),
    held: 1_000_000,
  },
  translation: {
    path: '/v1/audio/translations',
    form: () => formOf({ file: sound() }),
    held: 1_000_000,
  },
  edit: {
    path: '/v1/images/edits',
    form: () => formOf({ image: image(), prompt: 'A boat', n: '2' }),
    held: 40_000_000,
  },
  variation: {
    path: '/v1/images/variations',
    form: () => formOf({ image: image() }),
    held: 20_000_000,
  },
  moderation: { path: '/v1/moderations', body: { input: 'Hello' }, held: 1_017_000 },
  rerank: {
    path: '/v1/rerank',
    body: { query: 'Hello', documents: ['Hello there', 'Goodbye'] },
    held: 2_000_000,
  },
}

/** One second of audio. */
function sound(): File {
  const bytes = Buffer.alloc(44 + 8_000)
  bytes.write('RIFF')
  bytes.writeUInt32LE(bytes.length - 8, 4)
  bytes.write('WAVEfmt ', 8)
  for (const [at, value] of [
    [16, 16],
    [20, 1 + (1 << 16)],
    [24, 8_000],
    [28, 8_000],
    [32, 1 + (8 << 16)],
    [40, 8_000],
  ] as const) {
    bytes.writeUInt32LE(value, at)
  }
  bytes.write('data', 36)
  return new File([bytes], 'a.wav')
}

const image = (): File => new File([Buffer.from(fakeImage, 'base64')], 'a.png')

function formOf(fields: Record<string, string | File>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

async function ask(
  gus: GatewayUser,
  kind: MediaKind,
  script: string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const { path, body, form = () => new FormData() } = requests[kind]
  const model = `${kind}/${script}`
  if (body) return gus.call('POST', path, { model, ...body }, headers)
  const fields = form()
  fields.set('model', model)
  const sent = new Response(fields)
  const type = sent.headers.get('content-type') ?? ''
  return gus.call('POST', path, await sent.bytes(), { ...headers, 'content-type': type })
}

/** The expectation of one table cell. */
type Cell = [scripts: string, status: number, charge: 'nothing' | 'hold', code?: string | null]

const table: Cell[] = [
  ['429', 429, 'nothing'],
  ['500 503 reset-first close-first redirect', 502, 'nothing'],
  ['content-filter', 400, 'nothing', 'content_policy_violation'],
  ['400 404 422', 400, 'nothing'],
  ['empty', 502, 'nothing'],
  ['bad-json truncated reset-middle html bad-headers', 502, 'hold', 'unreadable_response'],
  ['hang hang-middle', 504, 'hold', 'deadline_exceeded'],
  ['401 402 403', 503, 'nothing'],
]

describe.each(kinds)('charges of %s', (kind) => {
  const cells = table.flatMap(([scripts, ...cell]) =>
    scripts.split(' ').map((script) => ({ script, cell })),
  )
  test.concurrent.each(cells)('$script', async ({ script, cell: [status, charge, code] }) => {
    const faked = script.startsWith('hang') ? hasty : patient
    const gus = await faked.gus()
    const response = await ask(gus, kind, script)
    expect([response.status, response.code ?? null]).toEqual([status, code ?? null])
    const { use, total } = await faked.lastUse(gus)
    expect([total, Number(use?.held)]).toEqual([1, requests[kind].held])
    expect(Number(use?.charged)).toBe(charge === 'hold' ? requests[kind].held : 0)
    expect(use).toMatchObject({ model: `${kind}/${script}`, status: 'failed' })
    expect(use?.requestId).toBe(response.headers.get('x-request-id') ?? '')
    expect(await faked.findProblems(gus)).toEqual([])
    const isFinal = charge === 'hold' || status === 400
    expect(response.headers.get('x-should-retry')).toBe(isFinal ? 'false' : null)
  })

  test('a call without a key, model, price or fitting type is rejected and stores nothing', async () => {
    const gus = await patient.gus()
    const other = ['image', 'edit', 'variation'].includes(kind) ? 'embedding' : 'image'
    for (const [model, status, says] of [
      ['nobody', 404, 'does not exist'],
      ['unpriced', 400, 'no published price'],
    ] as const) {
      const response = await ask(gus, kind, model)
      expect([response.status, response.text('error.message')]).toEqual([
        status,
        expect.stringContaining(says),
      ])
    }
    const wrong = await ask({ ...gus, call: renamed(gus, other) }, kind, 'ok')
    expect([wrong.status, wrong.text('error.message')]).toEqual([
      400,
      expect.stringContaining(`use POST ${requests[other].path}`),
    ])
    const online = await ask(gus, kind, 'ok:online')
    expect([online.status, online.code]).toEqual([400, 'W207'])
    const keyless = await patient.request('POST', requests[kind].path, { body: 'x' })
    expect(keyless.status).toBe(401)
    expect(await patient.lastUse(gus)).toEqual({ use: undefined, total: 0 })
  })

  test('402 without credits; 429 over the cap of a key; neither is stored', async () => {
    const gus = await patient.gus('0.0000001')
    const poor = await ask(gus, kind, `${kind}-ok`)
    expect([poor.status, poor.headers.get('x-should-retry')]).toEqual([402, 'false'])
    const rich = await patient.gus()
    const made = await rich.call('POST', '/accounts/keys', { daily_cap: 0.01 })
    const capped = await ask(withKey(rich, made.text('api_key')), kind, `${kind}-ok`)
    expect([capped.status, capped.code]).toEqual([429, 'daily_cap'])
    for (const one of [gus, rich]) {
      expect((await patient.lastUse(one)).total).toBe(0)
      expect(await patient.findProblems(one)).toEqual([])
    }
  })

  test('another upstream serves when the first one fails', async () => {
    const gus = await patient.gus()
    expect((await ask(gus, kind, 'fallback')).status).toBe(200)
    const { use } = await patient.lastUse(gus)
    expect(use).toMatchObject({
      upstream: `${mediaUpstream}fallback of ${kind}: ${kind}-ok`,
      status: 'completed',
    })
    expect(Number(use?.charged)).toBeGreaterThan(0)
  })

  test('a charged failure is repeated for a minute or for its key, and charged once', async () => {
    const gus = await patient.gus()
    const requests = () => patient.fake.received.length
    const before = requests()
    await ask(gus, kind, 'html')
    expect((await ask(gus, kind, 'html')).code).toBe('unreadable_response')
    expect(requests()).toBe(before + 1)
    const key = { 'idempotency-key': 'once' }
    patient.clock.advance(minute + second)
    for (const _ of [1, 2]) {
      const response = await ask(gus, kind, 'html', key)
      expect([response.status, response.code]).toEqual([502, 'unreadable_response'])
      patient.clock.advance(minute + second)
    }
    expect([requests(), (await patient.lastUse(gus)).total]).toEqual([before + 2, 2])
  })

  test('a client that leaves pays for its request, its upstream is released, and it may retry', async () => {
    const gus = await patient.gus()
    for (const times of [1, 2]) {
      const leaving = new AbortController()
      const handler = withOrigin(gus, leaving.signal)
      const before = patient.fake.received.length
      const response = ask(handler, kind, 'hang').catch(() => 'left')
      const isRequested = () => patient.fake.received.at(-1)
      await until(() => patient.fake.received.length > before)
      leaving.abort()
      expect(await response).toBe('left')
      await isRequested()?.ended
      expect(isRequested()?.left).toBe(true)
      await until(async () => (await patient.lastUse(gus)).total >= times)
      const { use } = await patient.lastUse(gus)
      expect([use?.status, Number(use?.charged) > 0]).toEqual(['interrupted', true])
    }
    expect(await patient.findProblems(gus)).toEqual([])
  })
})

/** The same account with calls to models of another kind. */
const renamed =
  (gus: GatewayUser, other: MediaKind): GatewayUser['call'] =>
  (method, path, body, headers) => {
    const latin = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : ''
    const bytes = Buffer.from(
      latin.replace(/(transcription|translation|edit|variation)\/ok/, `${other}/ok`),
      'latin1',
    )
    const sent = latin ? new Uint8Array(bytes) : { ...Object(body), model: `${other}/ok` }
    return gus.call(method, path, sent, headers)
  }

const withKey = (gus: GatewayUser, key: string): GatewayUser => ({
  ...gus,
  call: (method, path, body, headers) =>
    patient.request(method, path, { key, body, ...(headers && { headers }) }),
})

/** Calls over a real socket, so that the client can leave. */
const withOrigin = (gus: GatewayUser, signal: AbortSignal): GatewayUser => ({
  ...gus,
  call: async (method, path, body, headers) => {
    const isBytes = body instanceof Uint8Array
    const sent = {
      method,
      signal,
      body: isBytes ? new Blob([new Uint8Array(body)]) : JSON.stringify(body),
      headers: {
        ...(isBytes ? {} : { 'content-type': 'application/json' }),
        ...headers,
        authorization: `Bearer ${gus.key}`,
      },
    }
    await fetch(patient.origin + path, sent)
    throw new Error('It was answered.')
  },
})
