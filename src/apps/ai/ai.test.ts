import { afterEach, expect, test } from 'bun:test'

import { aiFileBytesMax } from '../../kernel/limits.ts'
import {
  createTestPerson,
  createTestSession,
  type TestPerson,
} from '../../testing/fixtures/people.ts'
import {
  startTestServer,
  type TestResponse,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const html = `<!doctype html><title>Oracle</title><script>service.ai.chat('Hello')</script>`
const turn = { messages: [{ role: 'user', content: 'Tell me of the sea' }] }

let t: TestServer
afterEach(() => t.close())

interface Player {
  person: TestPerson['person']
  send(method: string, path: string, body?: unknown, more?: object): Promise<TestResponse>
}

/** A person with 1 USD and a session, whose browser is on a page of the site. */
async function player(name: string, usd = 1n): Promise<Player> {
  const { person } = await createTestPerson(t, name, usd)
  const { cookie } = await createTestSession(t, { person })
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  return {
    person,
    send: (method, path, body, more = {}) =>
      t.request(method, path, { headers: { ...headers, ...more }, body }),
  }
}

async function openOracle(): Promise<{ id: string; olga: Player }> {
  t = await startTestServer()
  const ann = await t.agent('ann')
  return { id: await ann.publish({ html }), olga: await player('olga') }
}

const agree = (who: Player, id: string, more: object = {}) =>
  who.send('PUT', `/api/apps/${id}/consent`, {
    uses: ['ai'],
    dailyCap: 100,
    remember: false,
    ...more,
  })
const chat = (who: Player, id: string, body: object = turn) =>
  who.send('POST', `/a/${id}/ai/v1/chat/completions`, body)
const stateOf = async (who: Player, id: string) =>
  (await who.send('GET', `/api/apps/${id}/ai`)).body
const spentOf = async (who: Player) => (await who.send('GET', '/api/people/me')).body

test('a player pays for a call after they agreed, and not before', async () => {
  const { id, olga } = await openOracle()
  expect(await stateOf(olga, id)).toMatchObject({
    state: 'ask',
    uses: ['ai'],
    isDemo: true,
    spent: 0,
  })
  const before = await t.snapshot()
  const early = await chat(olga, id)
  expect([early.status, early.code]).toEqual([403, 'not_granted'])
  expect(early.headers.get('x-service-code')).toBe('not_granted')
  expect(await t.snapshot()).toEqual(before)

  expect((await agree(olga, id)).status).toBe(200)
  const reply = await chat(olga, id)
  expect(reply.status).toBe(200)
  expect(reply.text('choices.0.message.content')).toContain('Tell me of the sea')
  const cost = Number(reply.headers.get('x-service-cost'))
  expect(cost).toBeGreaterThan(0)
  expect(await stateOf(olga, id)).toMatchObject({
    state: 'ready',
    dailyCap: 100,
    spent: cost * 1_000,
  })
  expect(await spentOf(olga)).toMatchObject({ credits: 1_000 - cost * 1_000, held: 0 })
})

test('a call beyond the cap of the day is refused with a status that no client repeats', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id, { dailyCap: 0 })
  const before = await t.snapshot()
  const over = await chat(olga, id)
  expect([over.status, over.code]).toEqual([403, 'daily_cap'])
  // The page does not learn what the player has.
  expect(JSON.stringify(over.body)).not.toMatch(/\d/)
  expect(await t.snapshot()).toEqual(before)
})

test('a poor player is refused without a word about the balance', async () => {
  const { id } = await openOracle()
  const ben = await player('ben', 0n)
  await agree(ben, id)
  const denied = await chat(ben, id)
  expect([denied.status, denied.code]).toEqual([402, 'not_enough_credits'])
  expect(JSON.stringify(denied.body)).not.toMatch(/\d/)
})

test('a consent ends with the day unless it is remembered, and when it is revoked', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  t.clock.advance(24 * 3_600_000)
  expect((await chat(olga, id)).code).toBe('not_granted')
  await agree(olga, id, { remember: true })
  t.clock.advance(24 * 3_600_000)
  expect((await chat(olga, id)).status).toBe(200)
  const revoked = await olga.send('DELETE', `/api/apps/${id}/consent`)
  expect(revoked.body).toEqual({ app: id, revoked: true })
  expect((await chat(olga, id)).code).toBe('not_granted')
})

test('a version that uses more asks again, and a remix has a consent of its own', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id, { remember: true })
  const ann = await t.agent('ann')
  const more = html.replace('</script>', ';service.room.join("hall")</script>')
  await ann.call('POST', `/apps/${id}/versions`, { html: more })
  expect(await stateOf(olga, id)).toMatchObject({ state: 'ask', uses: ['ai', 'room'] })
  expect((await chat(olga, id)).code).toBe('not_granted')
  const other = await ann.publish({ html })
  expect((await chat(olga, other)).code).toBe('not_granted')
})

test('nobody calls a model from another site, without a session, or by a key', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  const { cookie } = await createTestSession(t, olga)
  const path = `/a/${id}/ai/v1/chat/completions`
  const send = async (headers: Record<string, string>, key?: string) =>
    (await t.request('POST', path, { headers, key, body: turn })).code
  expect(await send({ cookie, 'sec-fetch-site': 'cross-site' })).toBe('cross_site')
  expect(await send({ cookie, origin: 'null' })).toBe('cross_site')
  expect(await send({})).toBe('not_signed_in')
  const ann = await t.agent('ann')
  expect(await send({}, ann.key)).toBe('not_signed_in')
  const consent = await t.call('PUT', `/apps/${id}/consent`, {
    headers: { cookie, origin: 'https://evil.test' },
    body: { uses: ['ai'], dailyCap: 100, remember: true },
  })
  expect(consent.code).toBe('cross_site')
})

test.each([
  ['v1/messages', { model: 'claude-sonnet-4', max_tokens: 99, ...turn }, 'content.0.text'],
  [
    'v1beta/models/gemini-2.0-flash:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'Tell me of the sea' }] }] },
    'candidates.0.content.parts.0.text',
  ],
  ['v1/chat/completions', { model: 'gpt-5', ...turn }, 'choices.0.message.content'],
  [
    'v1/chat/completions',
    {
      model: 'gpt-5',
      messages: [{ role: 'developer', content: 'Be short.' }, ...turn.messages],
    },
    'choices.0.message.content',
  ],
  ['v1/responses', { model: 'gpt-5', input: 'Tell me of the sea' }, 'output.0.content.0.text'],
])('answers %s in its own form, with the model of this server', async (path, body, at) => {
  const { id, olga } = await openOracle()
  const denied = await olga.send('POST', `/a/${id}/ai/${path}`, body)
  expect(denied.status).toBe(403)
  await agree(olga, id)
  const reply = await olga.send('POST', `/a/${id}/ai/${path}`, body)
  expect(reply.text(at)).toContain('Tell me of the sea')
})

test('creates images and speech, and transcribes', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  const drawing = {
    model: 'dall-e-3',
    prompt: 'A boat',
    size: '1792x1024',
    quality: 'hd',
    style: 'vivid',
    response_format: 'b64_json',
  }
  const image = await olga.send('POST', `/a/${id}/ai/v1/images/generations`, drawing)
  expect(image.status).toBe(200)
  const speech = await olga.send('POST', `/a/${id}/ai/v1/audio/speech`, { input: 'Hi', voice: 'a' })
  expect(speech.headers.get('content-type')).toStartWith('audio/')

  const form = new FormData()
  form.append('prompt', 'Add a sail')
  const edit = async (): Promise<TestResponse> => {
    const encoded = new Response(form)
    const more = { 'content-type': encoded.headers.get('content-type') ?? '' }
    return olga.send('POST', `/a/${id}/ai/v1/images/edits`, await encoded.bytes(), more)
  }
  const before = await t.snapshot()
  const without = await edit()
  expect([without.status, without.code]).toEqual([400, 'bad_request'])
  expect(await t.snapshot()).toEqual(before)
  const bytes = Buffer.from(image.text('data.0.b64_json'), 'base64')
  form.append('image[]', new File([bytes], 'boat.png', { type: 'image/png' }))
  const edited = await edit()
  expect(edited.status).toBe(200)
  expect(Number(edited.headers.get('x-service-cost'))).toBeGreaterThan(0)
})

test('other operations of the gateway are closed, and long texts are refused', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  for (const path of ['v1/files', 'v1/videos', 'v1/responses/x', 'v1/embeddings', '../v1/models']) {
    expect((await olga.send('POST', `/a/${id}/ai/${path}`, {})).status).toBe(404)
  }
  const long = { messages: [{ role: 'user', content: 'x'.repeat(65_537) }] }
  expect((await chat(olga, id, long)).status).toBe(413)
  const url = `data:image/png;base64,${'A'.repeat(Math.ceil((aiFileBytesMax * 4) / 3) + 8)}`
  const large = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
  const failed = await chat(olga, id, { messages: large })
  expect([failed.status, failed.text('error.message')]).toEqual([
    413,
    expect.stringContaining('20 MB of pictures and files'),
  ])
  expect((await chat(olga, id, [])).status).toBe(400)
  expect(await stateOf(olga, id)).toMatchObject({ spent: 0 })
})

test('many calls at once stay below the cap to the nano', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id, { dailyCap: 3 })
  const replies = await Promise.all(Array.from({ length: 40 }, () => chat(olga, id)))
  const statuses = new Set(replies.map(({ status }) => status))
  expect([...statuses].every((status) => [200, 403, 429].includes(status))).toBe(true)
  const cost = replies
    .filter(({ status }) => status === 200)
    .reduce((sum, { headers }) => sum + Math.round(Number(headers.get('x-service-cost')) * 1e9), 0)
  expect(cost).toBeLessThanOrEqual(3_000_000)
  expect(await spentOf(olga)).toMatchObject({ credits: (1e9 - cost) / 1e6, held: 0 })
})

test('an app that was taken down or never published calls no model', async () => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  const ann = await t.agent('ann')
  await ann.call('DELETE', `/apps/${id}`)
  expect((await chat(olga, id)).status).toBe(404)
  expect((await chat(olga, 'nothing00000')).status).toBe(404)
  expect((await olga.send('GET', `/api/apps/${id}/ai`)).status).toBe(404)
  expect((await agree(olga, id)).status).toBe(404)
})

test('the item page and the API say what an app on Explore uses', async () => {
  t = await startTestServer()
  const ann = await t.agent('ann')
  const id = await ann.publish({ html, title: 'Oracle', store: true })
  expect((await t.call('GET', `/explore/${id}`)).body).toMatchObject({ uses: ['ai'] })
  expect(String((await t.request('GET', `/explore/${id}`)).body)).toContain('Uses AI')
  const plain = await ann.publish({ store: true })
  expect((await t.call('GET', `/explore/${plain}`)).body).toMatchObject({ uses: [] })
  const remix = (await (await t.agent('ben')).call('POST', `/apps/${id}/remix`)).text('app.id')
  const { cookie } = await createTestSession(t, await player('olga'))
  const state = await t.call('GET', `/apps/${remix}/ai`, { headers: { cookie } })
  expect(state.body).toMatchObject({ uses: ['ai'], state: 'ask' })
})

test.each([
  { type: 'image_url', image_url: { url: 'https://evil.test/?score=9' } },
  { type: 'image_url', image_url: 'https://evil.test/?score=9' },
  { type: 'image', source: { type: 'url', url: 'https://evil.test/?score=9' } },
  { type: 'image_url', image_url: { data: 'https://evil.test/?score=9' } },
  { type: 'video_url', video_url: 'https://evil.test/?score=9' },
  { type: 'document_url', document_url: 'https://evil.test/?score=9' },
  { type: 'input_audio', input_audio: 'https://evil.test/?score=9' },
  { type: 'file', file: 'https://evil.test/?score=9' },
  { type: 'file', file: { file_data: 'https://evil.test/?score=9' } },
  { type: 'file', file: { file_id: 'file-AAAAAAAAAAAAAAAAAAAA' } },
])('a page sends neither addresses nor files of the account: %j', async (part) => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  const before = await t.snapshot()
  const sent = await chat(olga, id, { messages: [{ role: 'user', content: [part] }] })
  expect([sent.status, sent.code]).toEqual([400, 'bad_request'])
  expect(JSON.stringify(sent.body)).toContain('Send the file itself')
  expect(await t.snapshot()).toEqual(before)
})

const stored = { file_id: 'file-AAAAAAAAAAAAAAAAAAAA' }
const remote = 'https://evil.test/?score=9'
const userInput = (...content: object[]) => [{ role: 'user', content }]
const bytes = { type: 'image', source: { type: 'file', ...stored } }
const shown = { type: 'image', source: { type: 'url', url: remote } }

test.each([
  ['v1/chat/completions', { messages: userInput({ type: 'file', ...stored }) }],
  ['v1/chat/completions', { messages: userInput({ type: 'image_url', image_url: remote }) }],
  ['v1/messages', { max_tokens: 99, messages: userInput(bytes) }],
  ['v1/messages', { max_tokens: 99, messages: userInput(shown) }],
  ['v1/responses', { input: userInput({ type: 'input_file', ...stored }) }],
  ['v1/responses', { input: userInput({ type: 'input_image', image_url: remote }) }],
  ['v1/responses', { input: userInput({ type: 'input_file', file_data: remote }) }],
  ['v1/images/generations', { model: 'demo/image', prompt: 'A boat', image: remote }],
  ['v1/images/generations', { model: 'demo/image', prompt: 'A boat', image_urls: [remote] }],
  [
    'v1beta/models/gemini-2.0-flash:generateContent',
    { contents: [{ parts: [{ fileData: { fileUri: stored.file_id } }] }] },
  ],
])('no type of a request to %s makes its files texts: %j', async (path, body) => {
  const { id, olga } = await openOracle()
  await agree(olga, id)
  const before = await t.snapshot()
  for (const type of ['tool_use', 'x_tool_use', 'web_search_result']) {
    const sent = await olga.send('POST', `/a/${id}/ai/${path}`, { type, ...body })
    expect([sent.status, sent.headers.get('x-service-code')]).toEqual([400, 'bad_request'])
    expect(JSON.stringify(sent.body)).toContain('Send the file itself')
  }
  expect(await t.snapshot()).toEqual(before)
})
