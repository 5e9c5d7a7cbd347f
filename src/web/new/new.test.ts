import { afterEach, expect, test } from 'bun:test'

import { listActingAgents } from '../../hosting/people/owned-agents.ts'
import { findByName } from '../../hosting/people/people.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  origin,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const opened: TestServer[] = []
afterEach(async () => {
  for (const h of opened.splice(0)) {
    expect(h.lines.filter(({ level }) => level === 'error')).toEqual([])
    await h.close()
  }
})

async function open(settings = {}): Promise<TestServer> {
  const h = await startTestServer(settings)
  opened.push(h)
  return h
}

const agentsOf = async (h: TestServer, name: string) => {
  const person = await findByName(h.ctx, name)
  return person ? listActingAgents(h.ctx, person) : []
}

test('makes the first agent of a new account and shows the page to make an app', async () => {
  const h = await open()
  const bea = new FormBrowser(h)
  const done = await bea.fill('/sign-up', '/sign-up', { name: 'bea', password })
  expect(String(done.body)).toContain('<a class="button" href="/new">')
  const [agent, ...others] = await agentsOf(h, 'bea')
  expect([agent?.claimHash, others]).toEqual([null, []])
  const page = String((await bea.open('/new')).body)
  expect(page).toContain('<h1>Make your first app</h1>')
  expect(page).toContain(`@${agent?.handle} · 400 credits`)
  expect(String((await bea.open(`/agents/${agent?.handle}`)).body)).toContain('400')
  // A requested page comes first.
  const carl = new FormBrowser(h)
  const next = await carl.fill('/sign-up?next=/wallet', '/sign-up', { name: 'carl', password })
  expect(String(next.body)).toContain('<a class="button" href="/wallet">')
  expect((await new FormBrowser(h).open('/new')).headers.get('location')).toBe(
    '/sign-in?next=%2Fnew',
  )
})

test('makes an account without an agent past the limits of new keys', async () => {
  for (const settings of [
    { KEYS_PER_ADDRESS_DAY: '1' },
    { KEYS_PER_DAY: '1' },
    { KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'hush-hush' },
  ]) {
    const h = await open(settings)
    const from = '198.51.100.9'
    await h.call('POST', '/keys', { from, body: {} })
    const bea = await signUp(h, 'bea', from)
    expect([settings, await agentsOf(h, 'bea')]).toEqual([settings, []])
    expect(String((await bea.open('/new')).body)).toContain('Create an agent')
    const failed = await bea.fill('/agents', '/agents', { handle: 'bea' })
    expect([failed.status, alertText(failed)]).toEqual([
      'KEYS_OPEN' in settings ? 403 : 429,
      expect.any(String),
    ])
    expect(alertText(failed)).not.toBe('')
    expect(String(failed.body)).toMatch(/name="handle"\s+value="bea"/)
  }
})

test('counts the agents of accounts for the limits of new keys', async () => {
  const h = await open({ KEYS_PER_ADDRESS_DAY: '2' })
  const from = '198.51.100.9'
  const bea = await signUp(h, 'bea', from)
  const created = await bea.fill('/agents', '/agents', { handle: 'Brass-Otter' })
  expect([created.status, created.headers.get('location')]).toEqual([303, '/agents/brass-otter'])
  expect((await h.call('POST', '/keys', { from, body: {} })).status).toBe(429)
  expect(await agentsOf(h, 'bea')).toHaveLength(2)
})

test('publishes a pasted page or a file once', async () => {
  const h = await open()
  const bea = await signUp(h, 'bea')
  const [agent] = await agentsOf(h, 'bea')
  const form = hiddenFields(String((await bea.open('/new')).body), '/new/page')
  const page = { ...form, html: '<title>Tides</title><h1>Tides</h1>', title: '', kind: 'game' }
  const done = await bea.send('/new/page', page)
  const location = done.headers.get('location') ?? ''
  expect([done.status, location]).toEqual([303, expect.stringContaining('?done=publish')])
  expect((await bea.send('/new/page', page)).headers.get('location')).toBe(location)
  const studio = String((await bea.open(location)).body)
  expect(studio).toContain('<h1><bdi>Tides</bdi></h1>')
  expect(studio).toContain('Published. Share its link')
  expect(String((await bea.open('/new')).body)).toContain('<h1>New app</h1>')

  const body = new FormData()
  const fresh = hiddenFields(String((await bea.open('/new')).body), '/new/page')
  for (const [name, value] of Object.entries({ ...fresh, html: '', title: 'Knots' })) {
    body.set(name, value)
  }
  body.set('file', new File(['<h1>Knots'], 'knots.html', { type: 'text/html' }))
  const multipart = new Response(body)
  const headers = {
    'content-type': multipart.headers.get('content-type') ?? '',
    origin,
    cookie: `berth=${bea.cookie()}`,
  }
  const upload = { body: await multipart.bytes(), headers }
  expect((await h.request('POST', '/new/page', upload)).status).toBe(303)
  const all = String((await bea.open(`/agents/${agent?.handle}/apps`)).body)
  expect(all.match(/<bdi>(?:Tides|Knots)<\/bdi>/g)).toHaveLength(2)
})

test('shows the error of a page at its field and keeps the typed values', async () => {
  const h = await open()
  const bea = await signUp(h, 'bea')
  const form = hiddenFields(String((await bea.open('/new')).body), '/new/page')
  const empty = await bea.send('/new/page', { ...form, html: ' ', title: 'Knots' })
  expect([empty.status, alertText(empty)]).toEqual([400, 'Choose an HTML file or paste its text.'])
  expect(String(empty.body)).toMatch(/name="title"\s+value="Knots"/)
  const html = '<form action="https://evil.example"><input type=password></form>'
  const blocked = await bea.send('/new/page', { ...form, html })
  expect([blocked.status, alertText(blocked)]).toEqual([
    422,
    expect.stringContaining('The safety check blocked this page.'),
  ])
  const other = await bea.send('/new/page', { ...form, as: 'nobody', html: '<h1>Hi' })
  expect(other.status).toBe(404)
})

test('shows the price of a build before it starts', async () => {
  const h = await open()
  const bea = await signUp(h, 'bea')
  const typed = { prompt: 'A tip calculator', kind: 'app' }
  const form = hiddenFields(String((await bea.open('/new')).body), '/new/prompt')
  expect(form).not.toHaveProperty('max')
  const before = await h.snapshot()
  const priced = await bea.send('/new/prompt', { ...form, ...typed })
  expect(priced.status).toBe(200)
  expect(await h.snapshot()).toEqual(before)
  const text = String(priced.body)
  expect(text).toMatch(/This build costs at most \d+ credits?\. You pay only if it succeeds\./)
  expect(text).toContain('A tip calculator</textarea>')
  const confirmed = hiddenFields(text, '/new/prompt')
  // A lower price than the current one is not a confirmation.
  const low = await bea.send('/new/prompt', { ...confirmed, ...typed, max: '0' })
  expect([low.status, String(low.body)]).toEqual([200, expect.stringContaining('costs at most')])
  const started = await bea.send('/new/prompt', { ...confirmed, ...typed })
  const location = started.headers.get('location') ?? ''
  expect([started.status, location]).toEqual([
    303,
    expect.stringMatching(/^\/studio\/\w{12}\?done=build$/),
  ])
  const none = await bea.send('/new/prompt', { ...form, prompt: ' ' })
  expect([none.status, alertText(none)]).toEqual([400, 'Describe the app.'])
  expect((await bea.open('/new/prompt')).headers.get('location')).toBe('/new')
})
