import { describe, expect, test } from 'bun:test'

import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { closeWithoutErrors, startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { getPerson, password } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const open = startForEachTest(closeWithoutErrors)

const agentsOf = async (t: TestServer, name: string) =>
  listActingAgents(t.ctx, await getPerson(t, name))

test('makes the first agent of a new account and shows the page to make an app', async () => {
  const t = await open()
  const bea = new FormBrowser(t)
  const done = await bea.fill('/sign-up', '/sign-up', { name: 'bea', password })
  expect(shownPage(done.body).hrefs).toContain('/new')
  const [agent, ...others] = await agentsOf(t, 'bea')
  expect([agent?.claimHash, others]).toEqual([null, []])
  const page = await bea.read('/new')
  expect(shownPage(page).names('heading')).toContain('Make your first app')
  expect(page).toContain(`@${agent?.handle} · 400 credits`)
  expect(await bea.read(`/agents/${agent?.handle}`)).toContain('400')
  // A requested page comes first.
  const carl = new FormBrowser(t)
  const next = await carl.fill('/sign-up?next=/wallet', '/sign-up', { name: 'carl', password })
  expect(shownPage(next.body).hrefs).toContain('/wallet')
})

test('makes an account without an agent past the limits of new keys', async () => {
  for (const settings of [
    { KEYS_PER_ADDRESS_DAY: '1' },
    { KEYS_PER_DAY: '1' },
    { KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'hush-hush' },
  ]) {
    const t = await open(settings)
    const from = '198.51.100.9'
    await t.call('POST', '/keys', { from, body: {} })
    const bea = await signUp(t, 'bea', from)
    expect([settings, await agentsOf(t, 'bea')]).toEqual([settings, []])
    expect(await bea.read('/new')).toContain('Create an agent')
    const failed = await bea.fill('/agents', '/agents', { handle: 'bea' })
    expect([failed.status, alertText(failed)]).toEqual([
      'KEYS_OPEN' in settings ? 403 : 429,
      expect.any(String),
    ])
    expect(alertText(failed)).not.toBe('')
    expect(shownPage(failed.body).byLabel(/^Handle/).value).toBe('bea')
  }
})

test('counts the agents of accounts for the limits of new keys', async () => {
  const t = await open({ KEYS_PER_ADDRESS_DAY: '2' })
  const from = '198.51.100.9'
  const bea = await signUp(t, 'bea', from)
  const created = await bea.fill('/agents', '/agents', { handle: 'Brass-Otter' })
  expect([created.status, created.headers.get('location')]).toEqual([303, '/agents/brass-otter'])
  expect((await t.call('POST', '/keys', { from, body: {} })).status).toBe(429)
  expect(await agentsOf(t, 'bea')).toHaveLength(2)
})

test('publishes a pasted page or a file once', async () => {
  const t = await open()
  const bea = await signUp(t, 'bea')
  const [agent] = await agentsOf(t, 'bea')
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
  const all = await bea.show(`/agents/${agent?.handle}/apps`)
  for (const title of ['Tides', 'Knots']) expect(all.allByText(title)).toHaveLength(1)
})

test('shows the error of a page at its field and keeps the typed values', async () => {
  const t = await open()
  const bea = await signUp(t, 'bea')
  const form = hiddenFields(await bea.read('/new'), '/new/page')
  const empty = await bea.send('/new/page', { ...form, html: ' ', title: 'Knots' })
  expect([empty.status, alertText(empty)]).toEqual([
    400,
    'Choose an HTML file or a zip, or paste HTML.',
  ])
  expect(shownPage(empty.body).byLabel(/^Title/).value).toBe('Knots')
  const html = '<form action="https://evil.example"><input type=password></form>'
  const blocked = await bea.send('/new/page', { ...form, html })
  expect([blocked.status, alertText(blocked)]).toEqual([
    422,
    expect.stringContaining('The safety check blocked it.'),
  ])
  const other = await bea.send('/new/page', { ...form, as: 'nobody', html: '<h1>Hi' })
  expect(other.status).toBe(404)
})

test('says without a model what cannot be built, and offers what works', async () => {
  const works = ['Upload or paste', 'Connect your agent', 'skill.md']
  for (const [settings, limit] of [
    [{}, 'has no model that builds what you describe. Its demo builder'],
    [{ DEMO_MODELS: 'off' }, 'has no model that builds what you describe.'],
  ] as const) {
    const t = await open(settings)
    const olga = await signInOperator(t)
    for (const page of [await new FormBrowser(t).show('/'), await olga.show('/new')]) {
      expect(page.text).toContain(limit)
      for (const way of works) expect(page.text).toContain(way)
      expect(page.names('heading')).not.toContain('Make an app or a game by describing it')
    }
    expect((await olga.show('/new')).text).toContain('Remix an app')
    const offers = async (browser: FormBrowser) => (await browser.show('/new')).hrefs
    expect(await offers(olga)).toContain('/console/providers')
    expect(await offers(await signUp(t, 'bea'))).not.toContain('/console/providers')
  }
  const t = await open({ BUILDER_MODEL: 'demo/chat' })
  const home = await new FormBrowser(t).show('/')
  expect(home.names('heading')).toContain('Make an app or a game by describing it')
  expect(home.text).not.toContain('has no model')
})

test('shows one way to make an app at first: the one that works, was requested or failed', async () => {
  const t = await open({ DEMO_MODELS: 'off' })
  const bea = await signUp(t, 'bea')
  expect(await bea.read('/new')).toMatch(/value="page"\s+checked/)
  expect(await bea.read('/new?way=odd')).toMatch(/value="page"\s+checked/)
  expect(await bea.read('/new?way=agent')).toMatch(/value="agent"\s+checked/)
  const form = hiddenFields(await bea.read('/new'), '/new/page')
  const failed = await bea.send('/new/page', { ...form, html: ' ' })
  expect(failed.body).toMatch(/value="page"\s+checked/)
  const withModel = await open({ BUILDER_MODEL: 'demo/chat' })
  const visitor = new FormBrowser(withModel)
  expect(await visitor.read('/')).toMatch(/value="describe"\s+checked/)
  expect(await visitor.read('/new')).toMatch(/value="describe"\s+checked/)
  expect(await visitor.read('/new?way=page')).toMatch(/value="page"\s+checked/)
})

test('keeps the heading that the operator chose for the home page', async () => {
  const t = await open({ HOME_TITLE: 'Games of our school' })
  expect((await new FormBrowser(t).show('/')).names('heading')).toContain('Games of our school')
})

test('declines what no template makes before it asks for an account', async () => {
  const t = await open()
  const visitor = new FormBrowser(t)
  const before = await t.snapshot()
  const prompt = 'A weather app'
  const declined = await visitor.fill('/new', '/new/prompt', { prompt, kind: 'app' })
  expect([declined.status, alertText(declined)]).toEqual([
    400,
    expect.stringMatching(
      /^This server has no model: .* Nothing was charged\. Describe it in other words/,
    ),
  ])
  expect(shownPage(declined.body).values('textbox')).toContain(prompt)
  expect(shownPage(declined.body).text).toContain('Upload or paste')
  expect(await t.snapshot()).toEqual(before)
  const bea = await signUp(t, 'bea')
  const form = hiddenFields(await bea.read('/new'), '/new/prompt')
  const after = await t.snapshot()
  const again = await bea.send('/new/prompt', { ...form, prompt, kind: 'app' })
  expect([again.status, alertText(again)]).toEqual([400, alertText(declined)])
  expect(await t.snapshot()).toEqual(after)
})

test('shows the price of a build before it starts', async () => {
  const t = await open({ BUILDER_MODEL: 'demo/chat' })
  const bea = await signUp(t, 'bea')
  const typed = { prompt: 'A tip calculator', kind: 'app' }
  const opened = await bea.read('/new?prompt=A+tip+calculator')
  expect(shownPage(opened).values('textbox')).toContain('A tip calculator')
  expect(opened).toMatch(/At most \d+ credits\.\s+You pay only if it succeeds\./)
  const form = hiddenFields(opened, '/new/prompt')
  // A lower price than the current one is not a confirmation.
  const before = await t.snapshot()
  const low = await bea.send('/new/prompt', { ...form, ...typed, max: '0' })
  expect([low.status, shownPage(low.body).values('textbox')]).toEqual([
    200,
    expect.arrayContaining(['A tip calculator']),
  ])
  expect(await t.snapshot()).toEqual(before)
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
    const t = await open({ BUILDER_MODEL: 'demo/chat' })
    for (const [name, typed] of [
      ['bea', { prompt: 'A "tip" calculator\n& more', kind: 'app' }],
      ['carl', { html: page, title: 'Knots', kind: 'game' }],
    ] as const) {
      const visitor = new FormBrowser(t)
      const action = 'prompt' in typed ? '/new/prompt' : '/new/page'
      const offered = await visitor.fill('/new', action, typed)
      const fields = hiddenFields(String(offered.body), '/sign-up')
      expect(fields['next']).toBe('/new')
      const failed = await visitor.send('/sign-up', { ...fields, name, password: 'x' })
      const again = hiddenFields(String(failed.body), '/sign-up')
      expect([failed.status, again['draft']]).toEqual([400, fields['draft']])
      const made = await visitor.send('/sign-up', { ...again, name, password })
      const draft = hiddenFields(String(made.body), '/new/draft')
      const restored = shownPage((await visitor.send('/new/draft', draft)).body)
      expect(restored.names('heading')).toContain('Make your first app')
      expect(restored.values('textbox')).toContain('prompt' in typed ? typed.prompt : page)
      if ('title' in typed) expect(restored.byLabel(/^Title/).value).toBe('Knots')
    }
  })

  test('carries a prompt through sign-in', async () => {
    const t = await open()
    await signUp(t, 'bea')
    const visitor = new FormBrowser(t)
    const offered = await visitor.fill('/new', '/new/prompt', { prompt: 'Snake in neon' })
    const fields = hiddenFields(String(offered.body), '/new/draft')
    const form = hiddenFields(String((await visitor.send('/new/draft', fields)).body), '/sign-in')
    const done = await visitor.send('/sign-in', { ...form, name: 'bea', password })
    const draft = hiddenFields(String(done.body), '/new/draft')
    const restored = await visitor.send('/new/draft', draft)
    expect(shownPage(restored.body).values('textbox')).toContain('Snake in neon')
  })

  test('rejects empty, large, forged and expired drafts and stores nothing', async () => {
    const t = await open()
    const visitor = new FormBrowser(t)
    const before = await t.snapshot()
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
    t.clock.advance(25 * 3_600_000)
    for (const text of ['', 'x', forged, draft]) {
      const response = await visitor.send('/new/draft', { draft: text })
      expect([text, alertText(response)]).toEqual([text, 'This draft expired. Enter it again.'])
    }
    expect(await t.snapshot()).toEqual(before)
  })
})
