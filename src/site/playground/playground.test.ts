import { afterAll, expect, test } from 'bun:test'

import { findHistory } from '../../gateway/usage/operations.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import {
  alertText,
  type FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { fund, getPerson } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const path = '/wallet/playground'

const t = await startTestServer()
const olga = await signUp(t, 'olga')
const cy = await signUp(t, 'cyrus')
await fund(t.ctx, await getPerson(t, 'olga'), 1n)
afterAll(() => t.close())

const draft = { model: 'demo/chat', system: '', max_tokens: '50', turns: '[]' }

/** Submits the form of a page with changed values. */
const send = (browser: FormBrowser, values: Record<string, string>) =>
  browser.fill(path, path, { ...draft, ...values })

const tokenOf = async (browser: FormBrowser): Promise<string> =>
  hiddenFields(await browser.read(path), path).token ?? ''

/** Sends a JSON body to an operation, as the script of the page does. */
const callApi = async (browser: FormBrowser, operation: string, body: object, headers = {}) =>
  browser.send(`${path}/v1/${operation}`, JSON.stringify(body), {
    'content-type': 'application/json',
    'x-form-token': await tokenOf(browser),
    ...headers,
  })

const question = (text: string) => ({
  model: 'demo/chat',
  messages: [{ role: 'user', content: text }],
  max_tokens: 50,
})

async function walletOf(name: string) {
  const { wallet } = await getPerson(t, name)
  const owner = { kind: 'gateway', owner: wallet } as const
  const { data, total } = await findHistory(t.ctx, `gateway:${owner.owner}`, {})
  return { ...(await balanceOf(t.ctx, owner)), newest: data[0], total }
}

/** Returns the conversation in the form. */
const turnsIn = (page: unknown): string => hiddenFields(String(page), path).turns ?? ''

/** Returns the values of the selected options of a page. */
const selectedIn = (html: string): string[] =>
  shownPage(html)
    .allByRole('option')
    .filter((option) => option.isSelected)
    .map(({ value }) => value)

test('chats over several turns without JavaScript and charges the wallet', async () => {
  const before = await walletOf('olga')
  const first = await send(olga, { text: 'Ahoy <script>alert(1)</script>', system: 'Be brief.' })
  expect(first.status).toBe(200)
  const page = String(first.body)
  expect(shownPage(page).allByText('Ahoy <script>alert(1)</script>')).toHaveLength(1)
  // The reply is Markdown: the renderer drops its tags.
  expect(shownPage(page).allByText('Ahoy')).toHaveLength(1)
  expect(page).not.toContain('<script>alert')
  shownPage(page).byText(/^\d+ tokens in, \d+ out · [\d.]+ credits · \d+ ms/)
  const after = await walletOf('olga')
  expect(after.held).toBe(before.held)
  expect(after.newest).toMatchObject({ source: 'web', status: 'completed', model: 'demo/chat' })
  expect(Number(before.balance - after.balance) / 1e9).toBeCloseTo(
    after.newest?.price_in_usd ?? 0,
    9,
  )
  const turns = turnsIn(page)
  expect(JSON.parse(turns)).toEqual([
    { role: 'user', content: 'Ahoy <script>alert(1)</script>' },
    { role: 'assistant', content: 'Ahoy <script>alert(1)</script>', summary: expect.any(String) },
  ])
  const second = await send(olga, { text: 'And now', turns })
  expect(JSON.parse(turnsIn(second.body))).toHaveLength(4)
  expect((await walletOf('olga')).newest?.input_count).toBeGreaterThan(
    after.newest?.input_count ?? 0,
  )
})

test('streams with JavaScript and shows the cost summary to its owner only', async () => {
  const body = { ...question('one two three'), stream: true }
  const response = await callApi(olga, 'chat/completions', body)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(String(response.body)).toContain('"content":"one"')
  expect(String(response.body)).toEndWith('data: [DONE]\n\n')
  const its = `${path}/${response.headers.get('x-request-id')}`
  const summary = await olga.open(its)
  expect(summary.text('summary')).toMatch(/^\d+ tokens in, 3 out · [\d.]+ credits · /)
  expect(summary.text('exact')).toMatch(/^[\d.]+ credits, \$0\.0\d+$/)
  expect(summary.text('left')).toEndWith(' credits')
  expect((await cy.open(its)).status).toBe(404)
  for (const odd of ['x', '%00', '..%2f'])
    expect((await olga.open(`${path}/${odd}`)).status).toBe(404)
})

test('sends the requests of every kind of model and names their units', async () => {
  const summaryOf = async ({ headers }: { headers: Headers }) =>
    (await olga.open(`${path}/${headers.get('x-request-id')}`)).text('summary')
  const image = await callApi(olga, 'images/generations', {
    model: 'demo/image',
    prompt: 'A boat',
    n: 2,
  })
  expect(image.body).toMatchObject({ data: [{ url: expect.stringContaining('/v1/images/') }, {}] })
  expect(await summaryOf(image)).toStartWith('2 images · 2 credits')
  const vector = await callApi(olga, 'embeddings', { model: 'demo/embedding', input: 'A boat' })
  expect(vector.status).toBe(200)
  expect(await summaryOf(vector)).toMatch(/^\d tokens · /)
  const speech = await callApi(olga, 'audio/speech', {
    model: 'demo/speech',
    input: 'Ahoy',
    response_format: 'wav',
  })
  expect(speech.headers.get('content-type')).toStartWith('audio/')
  expect(await summaryOf(speech)).toStartWith('4 characters · ')
  const video = await callApi(olga, 'videos', { model: 'demo/video', prompt: 'A boat' })
  expect(video.text('status')).toBe('pending')
  const its = `${path}/v1/videos/${video.text('id')}`
  expect((await olga.open(its)).text('model')).toBe('demo/video')
  expect((await cy.open(its)).status).toBe(404)
  expect((await callApi(olga, 'accounts/keys', {})).status).toBe(404)
})

test('uploads a file for a chat and reads its text', async () => {
  const form = new FormData()
  form.append('file', new File(['The tide turns at nine.'], 'tides.txt'))
  const sent = await olga.send(`${path}/v1/files`, form, { 'x-form-token': await tokenOf(olga) })
  expect(sent.body).toMatchObject({ filename: 'tides.txt', kind: 'text' })
  const parts = [
    { type: 'text', text: 'When?' },
    { type: 'file', file_id: sent.text('id') },
  ]
  const chat = { ...question(''), messages: [{ role: 'user', content: parts }] }
  const response = await callApi(olga, 'chat/completions', chat)
  expect(JSON.stringify(response.body)).toContain('The tide turns at nine.')
  // Another wallet has no such file.
  expect((await callApi(cy, 'chat/completions', chat)).status).toBe(404)
})

test('shows errors in page terms, keeps the message and charges nothing', async () => {
  const kept = await walletOf('olga')
  const rejected = async (values: Record<string, string>, browser = olga) => {
    const plain = await send(browser, { text: 'Hello "there"', ...values })
    expect(shownPage(plain.body).values('textbox')).toContain('Hello "there"')
    return [plain.status, alertText(plain)]
  }
  const called = await callApi(cy, 'chat/completions', question('Hello'))
  expect([called.status, called.text('error.message')]).toEqual([
    402,
    expect.stringContaining('Lower “Max tokens”, or ask the operator'),
  ])
  expect(await rejected({}, cy)).toEqual([
    402,
    expect.stringMatching(
      /^This request can cost up to 0\.\d+ credits and your wallet has 0\. .*“Max tokens”/,
    ),
  ])
  expect(await rejected({ model: 'demo/none' })).toEqual([
    404,
    'The model demo/none is not available. Choose another model.',
  ])
  expect(await rejected({ model: 'demo/image' })).toEqual([400, expect.any(String)])
  for (const most of ['0', '1.5', 'many', '-3']) {
    expect(await rejected({ max_tokens: most })).toEqual([
      400,
      'Enter a whole number of max tokens, 1 or more.',
    ])
  }
  const many = JSON.stringify(Array.from({ length: 99 }, () => ({ role: 'user', content: 'x' })))
  const odd = ['', '{', '[1]', '[{"role":"system","content":"x"}]', '[{"role":"user"}]', many]
  for (const turns of odd) {
    expect(await rejected({ turns })).toEqual([
      400,
      expect.stringContaining('Start a new conversation'),
    ])
  }
  expect(await walletOf('olga')).toEqual(kept)
  expect((await walletOf('cyrus')).total).toBe(0)
})

test('rejects other origins, other sessions and larger forms', async () => {
  const [token, its] = [await tokenOf(olga), await tokenOf(cy)]
  const fields = { ...draft, text: 'Hello' }
  const kept = await t.snapshot()
  const chat = question('Hello')
  const tries = [
    await olga.send(path, fields),
    await olga.send(path, { ...fields, token: its }),
    await olga.send(path, { ...fields, token }, { origin: 'https://evil.example' }),
    await callApi(olga, 'chat/completions', chat, { 'x-form-token': its }),
    await callApi(olga, 'chat/completions', chat, { origin: 'https://evil.example' }),
    await callApi(olga, 'chat/completions', chat, { 'sec-fetch-site': 'cross-site' }),
  ]
  expect(tries.map(({ status }) => status)).toEqual(Array(6).fill(403))
  const large = { ...fields, token, text: 'x'.repeat(1_100_000) }
  expect((await olga.send(path, large)).status).toBe(413)
  expect((await olga.send(path, `token=${token}&text=a&text=b`)).status).toBe(400)
  expect(await t.snapshot()).toEqual(kept)
})

test('counts as gateway requests of the client address', async () => {
  const other = await startTestServer({ GATEWAY_REQUESTS_PER_MINUTE: '2' })
  const bea = await signUp(other, 'beatrice')
  const ask = () => bea.fill(path, path, { ...draft, text: 'Hello' })
  const statuses = [(await ask()).status, (await ask()).status]
  const third = await ask()
  expect([...statuses, third.status, third.headers.get('retry-after')]).toEqual([
    402,
    402,
    429,
    '60',
  ])
  expect(alertText(third)).toContain('limit of 2 requests per minute')
  await other.close()
})

test('selects the model of the link, or the cheapest one', async () => {
  const chosen = await olga.read(`${path}?model=demo%2Fomni`)
  expect(selectedIn(chosen)).toContain('demo/omni')
  const page = await olga.read(`${path}?model=no%22such`)
  expect(selectedIn(page).filter((value) => value.startsWith('demo'))).toEqual([])
  expect(selectedIn(await olga.read(path))).toContain('demo/small')
})
