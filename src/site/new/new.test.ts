import { describe, expect, test } from 'bun:test'

import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { findByName } from '../../people/people.ts'
import { closeWithoutErrors, startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const open = startForEachTest(closeWithoutErrors)

const agentsOf = async (h: TestServer, name: string) => {
  const person = await findByName(h.ctx, name)
  return person ? listActingAgents(h.ctx, person) : []
}

/** Returns where the links of a page lead. */
const hrefsOf = ({ body }: { body: unknown }) =>
  shownPage(body)
    .allByRole('link')
    .map((link) => link.attribute('href'))

test('makes the first agent of a new account and shows the page to make an app', async () => {
  const h = await open()
  const bea = new FormBrowser(h)
  const done = await bea.fill('/sign-up', '/sign-up', { name: 'bea', password })
  expect(hrefsOf(done)).toContain('/new')
  const [agent, ...others] = await agentsOf(h, 'bea')
  expect([agent?.claimHash, others]).toEqual([null, []])
  const page = await bea.read('/new')
  expect(shownPage(page).names('heading')).toContain('Make your first app')
  expect(page).toContain(`@${agent?.handle} · 400 credits`)
  expect(await bea.read(`/agents/${agent?.handle}`)).toContain('400')
  // A requested page comes first.
  const carl = new FormBrowser(h)
  const next = await carl.fill('/sign-up?next=/wallet', '/sign-up', { name: 'carl', password })
  expect(hrefsOf(next)).toContain('/wallet')
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
    expect(await bea.read('/new')).toContain('Create an agent')
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
  const form = hiddenFields(await bea.read('/new'), '/new/page')
  const page = { ...form, html: '<title>Tides</title><h1>Tides</h1>', title: '', kind: 'game' }
  const done = await bea.send('/new/page', page)
  const location = done.headers.get('location') ?? ''
  expect([done.status, location]).toEqual([303, expect.stringContaining('?done=publish')])
  expect((await bea.send('/new/page', page)).headers.get('location')).toBe(location)
  const studio = await bea.read(location)
  expect(shownPage(studio).names('heading')).toContain('Tides')
  expect(studio).toContain('Published. Share its link')
  expect(shownPage(await bea.read('/new')).names('heading')).toContain('Make an app')

  const body = new FormData()
  const fresh = hiddenFields(await bea.read('/new'), '/new/page')
  for (const [name, value] of Object.entries({ ...fresh, html: '', title: 'Knots' })) {
    body.set(name, value)
  }
  body.set('file', new File(['<h1>Knots'], 'knots.html', { type: 'text/html' }))
  expect((await bea.send('/new/page', body)).status).toBe(303)
  const all = await bea.read(`/agents/${agent?.handle}/apps`)
  expect(all.match(/<bdi>(?:Tides|Knots)<\/bdi>/g)).toHaveLength(2)
})

test('shows the error of a page at its field and keeps the typed values', async () => {
  const h = await open()
  const bea = await signUp(h, 'bea')
  const form = hiddenFields(await bea.read('/new'), '/new/page')
  const empty = await bea.send('/new/page', { ...form, html: ' ', title: 'Knots' })
  expect([empty.status, alertText(empty)]).toEqual([
    400,
    'Choose an HTML file or a zip, or paste HTML.',
  ])
  expect(String(empty.body)).toMatch(/name="title"\s+value="Knots"/)
  const html = '<form action="https://evil.example"><input type=password></form>'
  const blocked = await bea.send('/new/page', { ...form, html })
  expect([blocked.status, alertText(blocked)]).toEqual([
    422,
    expect.stringContaining('The safety check blocked it.'),
  ])
  const other = await bea.send('/new/page', { ...form, as: 'nobody', html: '<h1>Hi' })
  expect(other.status).toBe(404)
})

test('shows the price of a build before it starts', async () => {
  const h = await open()
  const bea = await signUp(h, 'bea')
  const typed = { prompt: 'A tip calculator', kind: 'app' }
  const opened = await bea.read('/new?prompt=A+tip+calculator')
  expect(shownPage(opened).values('textbox')).toContain('A tip calculator')
  expect(opened).toMatch(/At most \d+ credits\.\s+You pay only if it succeeds\./)
  const form = hiddenFields(opened, '/new/prompt')
  // A lower price than the current one is not a confirmation.
  const before = await h.snapshot()
  const low = await bea.send('/new/prompt', { ...form, ...typed, max: '0' })
  expect([low.status, String(low.body)]).toEqual([
    200,
    expect.stringContaining('A tip calculator</textarea>'),
  ])
  expect(await h.snapshot()).toEqual(before)
  const confirmed = hiddenFields(String(low.body), '/new/prompt')
  const started = await bea.send('/new/prompt', { ...confirmed, ...typed })
  const location = started.headers.get('location') ?? ''
  expect([started.status, location]).toEqual([
    303,
    expect.stringMatching(/^\/studio\/\w{12}\/build$/),
  ])
  const none = await bea.send('/new/prompt', { ...form, prompt: ' ' })
  expect([none.status, alertText(none)]).toEqual([400, 'Describe the app.'])
  expect((await bea.open('/new/prompt')).headers.get('location')).toBe('/new')
})

describe('without an account', () => {
  const page = '<title>Tides</title><h1 class="a">Tides & "waves"'

  test('carries a prompt or a page through sign-up', async () => {
    const h = await open()
    for (const [name, typed] of [
      ['bea', { prompt: 'A "tip" calculator\n& more', kind: 'app' }],
      ['carl', { html: page, title: 'Knots', kind: 'game' }],
    ] as const) {
      const visitor = new FormBrowser(h)
      const action = 'prompt' in typed ? '/new/prompt' : '/new/page'
      const offered = await visitor.fill('/new', action, typed)
      const fields = hiddenFields(String(offered.body), '/sign-up')
      expect(fields['next']).toBe('/new')
      const failed = await visitor.send('/sign-up', { ...fields, name, password: 'x' })
      const again = hiddenFields(String(failed.body), '/sign-up')
      expect([failed.status, again['draft']]).toEqual([400, fields['draft']])
      const made = await visitor.send('/sign-up', { ...again, name, password })
      const draft = hiddenFields(String(made.body), '/new/draft')
      const restored = String((await visitor.send('/new/draft', draft)).body)
      expect(shownPage(restored).names('heading')).toContain('Make your first app')
      expect(restored).toContain(Bun.escapeHTML('prompt' in typed ? typed.prompt : page))
      if ('title' in typed) expect(restored).toMatch(/name="title"\s+value="Knots"/)
    }
  })

  test('carries a prompt through sign-in', async () => {
    const h = await open()
    await signUp(h, 'bea')
    const visitor = new FormBrowser(h)
    const offered = await visitor.fill('/new', '/new/prompt', { prompt: 'Snake in neon' })
    const fields = hiddenFields(String(offered.body), '/new/draft')
    const form = hiddenFields(String((await visitor.send('/new/draft', fields)).body), '/sign-in')
    const done = await visitor.send('/sign-in', { ...form, name: 'bea', password })
    const draft = hiddenFields(String(done.body), '/new/draft')
    const restored = await visitor.send('/new/draft', draft)
    expect(shownPage(restored.body).values('textbox')).toContain('Snake in neon')
  })

  test('rejects empty, large, forged and expired drafts and stores nothing', async () => {
    const h = await open()
    const visitor = new FormBrowser(h)
    const before = await h.snapshot()
    const empty = await visitor.fill('/new', '/new/prompt', { prompt: ' ' })
    expect([empty.status, alertText(empty)]).toEqual([400, 'Describe the app.'])
    const large = await visitor.fill('/new', '/new/page', { html: 'x'.repeat(150_000) })
    expect([large.status, alertText(large)]).toEqual([
      400,
      'Sign in first: more than 128 KB cannot be kept through sign-up.',
    ])
    const huge = await visitor.fill('/new', '/new/page', { html: 'x'.repeat(600_000) })
    expect(huge.status).toBe(413)
    const offered = await visitor.fill('/new', '/new/prompt', { prompt: 'Snake in neon' })
    const { draft = '' } = hiddenFields(String(offered.body), '/sign-up')
    const forged = `${Buffer.from('{}').toString('base64url')}.${draft.split('.')[1]}`
    h.clock.advance(25 * 3_600_000)
    for (const text of ['', 'x', forged, draft]) {
      const response = await visitor.send('/new/draft', { draft: text })
      expect([text, alertText(response)]).toEqual([text, 'This draft expired. Enter it again.'])
    }
    expect(await h.snapshot()).toEqual(before)
  })
})
