import { afterAll, beforeAll, expect, test } from 'bun:test'

import { listHistory } from '../../gateway/usage/history.ts'
import { findByName } from '../../hosting/people/people.ts'
import { balanceOf } from '../../ledger/ledger.ts'
import {
  alertText,
  type FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { fund } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const path = '/wallet/playground'

let h: TestServer
let olga: FormBrowser
let cy: FormBrowser
beforeAll(async () => {
  h = await startTestServer()
  olga = await signUp(h, 'olga')
  cy = await signUp(h, 'cyrus')
  const person = await findByName(h.ctx, 'olga')
  if (person) await fund(h.ctx, person, 1n)
})
afterAll(() => h.close())

const draft = { model: 'demo/chat', system: '', max_tokens: '50', turns: '[]' }

/** Submits the form of a page with changed values. */
const send = (browser: FormBrowser, values: Record<string, string>) =>
  browser.fill(path, path, { ...draft, ...values })

async function walletOf(name: string) {
  const person = await findByName(h.ctx, name)
  const owner = { kind: 'gateway', owner: person?.wallet ?? '' } as const
  const { data, total } = await listHistory(h.ctx, `gateway:${owner.owner}`, {})
  return { ...(await balanceOf(h.ctx, owner)), newest: data[0], total }
}

/** Returns the conversation in the form. */
function turnsIn(page: unknown): string {
  const text = hiddenFields(String(page), path).turns ?? ''
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>')
}

test('chats over several turns without JavaScript and charges the wallet', async () => {
  const before = await walletOf('olga')
  const first = await send(olga, { text: 'Ahoy <script>alert(1)</script>', system: 'Be brief.' })
  expect(first.status).toBe(200)
  const page = String(first.body)
  expect(
    page.match(/<p class="turn-text">Ahoy &lt;script&gt;alert\(1\)&lt;\/script&gt;<\/p>/g),
  ).toHaveLength(2)
  expect(page).not.toContain('<script>alert')
  expect(page).toMatch(
    /<p class="small">demo\/chat · tokens: \d+ in, \d+ out · [\d.]+ credits, \$0\.0\d+ · \d+ ms</,
  )
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
  const answer = await send(olga, { text: 'one two three', stream: 'yes' })
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(String(answer.body)).toContain('"content":"one"')
  expect(String(answer.body)).toEndWith('data: [DONE]\n\n')
  const its = `${path}/${answer.headers.get('x-request-id')}`
  const summary = await olga.open(its)
  expect(summary.text('summary')).toMatch(/^demo\/chat · tokens: \d+ in, 3 out · /)
  expect(summary.text('left')).toEndWith(' credits')
  expect((await cy.open(its)).status).toBe(404)
  for (const odd of ['x', '%00', '..%2f'])
    expect((await olga.open(`${path}/${odd}`)).status).toBe(404)
})

test('shows errors in page terms, keeps the message and charges nothing', async () => {
  const kept = await walletOf('olga')
  const refused = async (values: Record<string, string>, browser = olga) => {
    const plain = await send(browser, { text: 'Hello "there"', ...values })
    const streamed = await send(browser, { text: 'Hello "there"', ...values, stream: 'yes' })
    expect(streamed.status).toBe(plain.status)
    const sentence = alertText(plain).replaceAll('&quot;', '"')
    // The stream flag is part of the request, so the hold differs.
    const wordsOf = (text: string) => text.replace(/cost up to [\d.]+/, 'cost')
    expect(wordsOf(streamed.text('error.message'))).toBe(wordsOf(sentence))
    expect(String(plain.body)).toContain('Hello &quot;there&quot;</textarea>')
    return [plain.status, sentence]
  }
  expect(await refused({}, cy)).toEqual([
    402,
    expect.stringMatching(
      /^This request can cost up to 0\.\d+ credits and your wallet has 0\. .*“Max tokens”/,
    ),
  ])
  expect(await refused({ model: 'demo/none' })).toEqual([
    404,
    'The model demo/none is not available. Choose another model.',
  ])
  expect(await refused({ model: 'demo/image' })).toEqual([400, expect.any(String)])
  for (const most of ['0', '1.5', 'many', '-3']) {
    expect(await refused({ max_tokens: most })).toEqual([
      400,
      'Enter a whole number of max tokens, 1 or more.',
    ])
  }
  const many = JSON.stringify(Array.from({ length: 99 }, () => ({ role: 'user', content: 'x' })))
  const odd = ['', '{', '[1]', '[{"role":"system","content":"x"}]', '[{"role":"user"}]', many]
  for (const turns of odd) {
    expect(await refused({ turns })).toEqual([
      400,
      expect.stringContaining('Start a new conversation'),
    ])
  }
  expect(await walletOf('olga')).toEqual(kept)
  expect((await walletOf('cyrus')).total).toBe(0)
})

test('rejects other origins, other sessions and larger forms', async () => {
  const { token = '' } = hiddenFields(String((await olga.open(path)).body), path)
  const its = hiddenFields(String((await cy.open(path)).body), path).token ?? ''
  const fields = { ...draft, text: 'Hello' }
  const kept = await h.snapshot()
  const tries = [
    await olga.send(path, fields),
    await olga.send(path, { ...fields, token: its }),
    await olga.send(path, { ...fields, token, stream: 'yes' }, { origin: 'https://evil.example' }),
    await olga.send(path, { ...fields, token, stream: 'yes' }, { 'sec-fetch-site': 'cross-site' }),
  ]
  expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  const large = { ...fields, token, text: 'x'.repeat(1_100_000) }
  expect((await olga.send(path, large)).status).toBe(413)
  expect((await olga.send(path, `token=${token}&text=a&text=b`)).status).toBe(400)
  expect(await h.snapshot()).toEqual(kept)
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
  const chosen = String((await olga.open(`${path}?model=demo%2Fomni`)).body)
  expect(chosen).toMatch(/<option value="demo\/omni"\s+selected/)
  const page = String((await olga.open(`${path}?model=no%22such`)).body)
  expect(page).not.toMatch(/<option[^>]* selected/)
  expect(String((await olga.open(path)).body)).toMatch(/<option value="demo\/small"\s+selected/)
})
