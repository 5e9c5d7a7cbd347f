/** The pages of the console that most operators use, each with the records it leaves. */
import { describe, expect, test } from 'bun:test'

import { createReport } from '../../apps/moderation/reports.ts'
import { ApiError } from '../../kernel/errors.ts'
import { minute } from '../../kernel/time.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { startForEachTest } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { type Shown, shownPage } from '../../testing/fixtures/shown-page.ts'
import { recordMetrics } from '../operator/metrics-history.ts'

const open = startForEachTest()

const pages = [
  '',
  '/requests',
  '/latency',
  '/alerts',
  '/spend',
  '/errors',
  '/queue',
  '/agents',
  '/people',
  '/clients',
  '/keys',
  '/grants',
  '/upstreams',
  '/models',
  '/libraries',
  '/backups',
  '/audit',
  '/settings',
].map((page) => `/console${page}`)
const posts = [
  '/blocklist',
  '/rescan',
  '/clients',
  '/grants',
  '/libraries',
  '/backups',
  '/agents/ann',
  '/people/cyrus',
].map((path) => `/console${path}`)

const decide = (browser: FormBrowser, path: string, decision: string, why = '') =>
  browser.fill(path, path, { decision, why })

describe('access', () => {
  test('serves the operator only and redirects to sign-in', async () => {
    const t = await open({ OPERATOR_TOKEN: 'hush-hush', MARGIN_PERCENT: '20' })
    const ann = await t.agent('ann')
    const id = await ann.publish({ title: 'Boats <b>' })
    const olga = await signInOperator(t)
    const cy = await signUp(t, 'cyrus', '198.51.100.7')
    const nowhere = await cy.open('/console/nowhere')
    const all = [...pages, `/console/apps/${id}`, '/console/agents/ann', '/console/people/cyrus']
    for (const path of all) {
      const page = await olga.open(path)
      expect([path, page.status]).toEqual([path, 200])
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
      expect(String(page.body)).not.toContain('hush-hush')
      // Texts of people are escaped.
      expect(String(page.body)).not.toContain('<b>')
      const other = await cy.open(path)
      expect([path, other.status, other.body]).toEqual([path, 404, nowhere.body])
      const guest = await new FormBrowser(t).open(path)
      const next = encodeURIComponent(path)
      expect([guest.status, guest.headers.get('location')]).toEqual([303, `/sign-in?next=${next}`])
    }
    const settings = await olga.show('/console/settings')
    expect(settings.text).toContain('(set)')
    expect((await olga.open('/console/apps/AAAAAAAAAAAA')).status).toBe(404)
    expect((await olga.open('/console/agents/nobody')).status).toBe(404)
    expect((await olga.open('/console/people/nobody')).status).toBe(404)
    expect((await olga.open('/console/backups/..%2f..%2fetc')).status).toBe(404)
    expect((await olga.open('/console/backups/2026-05-04T12-00-00-000Z')).status).toBe(404)
    for (const odd of ['/agents?cursor=odd', '/audit?cursor=odd', '/people?cursor=odd']) {
      expect((await olga.open(`/console${odd}`)).status).toBe(400)
    }
    for (const q of ['%00', '%25', '_', "'", '%ff', 'x'.repeat(300)]) {
      for (const list of ['agents', 'people', 'audit', 'models', 'grants?usd=1&to']) {
        const { status } = await olga.open(`/console/${list}${list.includes('?') ? '' : '?q'}=${q}`)
        expect([list, q, status < 500]).toEqual([list, q, true])
      }
    }
  })

  test('requires the session’s token and the origin on every form', async () => {
    const t = await open()
    const ann = await t.agent('ann')
    const id = await ann.publish()
    const olga = await signInOperator(t)
    const cy = await signUp(t, 'cyrus', '198.51.100.7')
    const action = '/console/rescan'
    const { token = '' } = hiddenFields(await olga.read('/console/queue'), action)
    const theirs = hiddenFields(await cy.read('/account'), '/account/keys').token ?? ''
    const takedown = { decision: 'takedown', why: 'spam', act: 'remove', to: '@ann' }
    const before = await t.snapshot()
    const ofApp = ['', '/audience', '/links', '/revoke-link', '/feature']
    const forms = [...ofApp.map((path) => `/console/apps/${id}${path}`), '/console/backups/x']
    for (const path of [...posts, ...forms]) {
      for (const [values, more, status] of [
        [{ ...takedown }, {}, 403],
        [{ ...takedown, token: theirs }, {}, 403],
        [{ ...takedown, token }, { origin: 'https://evil.example' }, 403],
        [{ ...takedown, token }, { 'sec-fetch-site': 'cross-site' }, 403],
      ] as const) {
        expect([path, (await olga.send(path, values, more)).status]).toEqual([path, status])
      }
      expect((await cy.send(path, { ...takedown, token: theirs })).status).toBe(404)
      expect((await new FormBrowser(t).send(path, takedown)).status).toBe(303)
    }
    const app = `/console/apps/${id}`
    expect((await olga.send(app, { token, decision: 'suspend', why: 'x' })).status).toBe(404)
    expect((await olga.send(app, { token, decision: 'toString', why: 'x' })).status).toBe(404)
    const noReason = await olga.send(app, { token, decision: 'takedown', why: ' ' })
    expect(noReason.status).toBe(400)
    // The error stands below the field of the reason, which takes the focus.
    const rejected = shownPage(noReason.body)
    const invalid = rejected.allByRole('textbox').filter((box) => box.attribute('aria-invalid'))
    expect(invalid.map((box) => [box.attribute('name'), box.attribute('autofocus')])).toEqual([
      ['why', ''],
    ])
    const alert = rejected.byRole('alert')
    expect(alert.text).toStartWith('Enter a reason')
    expect(alert.attribute('id')).toBe(invalid[0]?.attribute('aria-describedby') ?? '')
    const long = { token, decision: 'takedown', why: 'x'.repeat(2_001) }
    expect((await olga.send(app, long)).status).toBe(400)
    expect((await olga.send(app, { ...long, why: 'a\u0000b' })).status).toBe(400)
    const sha256 = 'x'.repeat(64)
    const block = { token, decision: 'block', sha256, why: 'spam' }
    expect((await olga.send('/console/blocklist', block)).status).toBe(400)
    expect(await t.snapshot()).toEqual(before)
  })
})

describe('moderation', () => {
  test('logs a report, quarantine, takedown, appeal and restore with names', async () => {
    const t = await open()
    const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
    const id = await ann.publish({ title: 'Boats', store: true })
    expect(await olga.read('/console/queue')).toContain('All caught up')
    await createReport(
      t.ctx,
      id,
      { reason: 'copy', text: 'Mine <i>', contact: 'me@x' },
      '192.0.2.9',
    )
    const queue = await olga.show('/console/queue')
    const path = `/console/apps/${id}`
    expect(queue.hrefs).toContain(path)
    expect(queue.text).toContain('1 report')
    const page = await olga.show(path)
    expect(page.text).toContain('Mine <i>')
    expect(page.hrefs).toContain(`/a/${id}/versions/1`)

    expect((await decide(olga, path, 'hold', 'A look first')).headers.get('location')).toBe(
      `${path}?done=hold&item=${id}`,
    )
    expect((await t.request('GET', `/a/${id}`)).status).toBe(403)
    const held = await olga.show('/console/queue')
    expect(held.hrefs).toContain(`/a/${id}/versions/1`)
    const preview = await olga.open(`/a/${id}/versions/1`)
    expect(preview.status).toBe(200)
    expect((await t.request('GET', `/a/${id}/versions/1`)).status).toBe(404)
    expect(await olga.read(path)).toContain('A look first')

    t.clock.advance(minute)
    expect((await decide(olga, path, 'takedown', 'It is a copy')).status).toBe(303)
    t.clock.advance(minute)
    expect((await ann.call('GET', `/apps/${id}`)).code).toBe('taken_down')
    const again = await decide(olga, path, 'takedown', 'It is a copy')
    expect([again.status, alertText(again)]).toEqual([
      400,
      expect.stringContaining('this was already decided'),
    ])
    await ann.call('POST', `/apps/${id}/appeal`, { text: 'I made it' })
    expect(await olga.read('/console/queue')).toContain('appeal')
    expect(alertText(await decide(olga, path, 'deny'))).toStartWith('Enter a reason')
    expect((await decide(olga, path, 'grant', 'So you did')).status).toBe(303)
    expect((await ann.call('GET', `/apps/${id}`)).status).toBe(200)
    expect(await olga.read('/console/queue')).toContain('All caught up')

    const log = await olga.read(`/console/audit?q=${id}`)
    const rows = shownPage(log)
      .allByRole('row')
      .map((row) => row.allByRole('cell').map(({ text }) => text))
      .filter((cells) => cells.length > 0)
    expect(rows.map(([did, , , by]) => [by, did])).toEqual([
      ['olga', 'Appeal granted'],
      ['olga', 'Taken down'],
      ['olga', 'Quarantined'],
    ])
  })

  test('suspends agents, blocks pages and rescans all apps', async () => {
    const t = await open()
    const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
    const id = await ann.publish({ title: 'Boats' })
    const path = `/console/agents/${ann.handle}`
    expect((await decide(olga, path, 'suspend')).status).toBe(400)
    await decide(olga, path, 'suspend', 'spam')
    expect((await ann.call('GET', '/me')).code).toBe('account_closed')
    expect(await olga.read('/console/agents?q=ANN')).toContain('suspended')
    await decide(olga, path, 'unsuspend')
    await decide(olga, path, 'pause')
    expect((await ann.call('GET', '/me')).body).toMatchObject({ limits: { dailyCap: 0 } })
    await decide(olga, path, 'resume')

    const html = '<!doctype html><title>Bad</title>bad'
    const bad = new Bun.CryptoHasher('sha256').update(html).digest('hex')
    const block = (decision: string, why = '') =>
      olga.fill('/console/queue', '/console/blocklist', { decision, sha256: bad, why })
    expect((await block('block', 'known')).status).toBe(303)
    expect((await ann.call('POST', '/apps', { html })).code).toBe('blocked_by_scan')
    expect((await block('block', 'known')).status).toBe(400)
    expect((await block('unblock')).status).toBe(303)
    expect((await ann.call('POST', '/apps', { html })).status).toBe(201)

    expect((await olga.fill('/console/queue', '/console/rescan', {})).status).toBe(303)
    expect((await decide(olga, `/console/apps/${id}`, 'rescan')).status).toBe(303)
    expect(await olga.read('/console/audit')).toContain('Scanned again')
  })
})

test('shows the facts and lists of an agent and its owner, then what can be decided', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await claimAgent(await signUp(t, 'cyrus', '198.51.100.7'), ann)
  await ann.publish({ title: 'Boats' })
  for (const [path, up, order] of [
    ['/console/agents/ann', '/console/agents', ['Balance', 'Latest apps', 'Actions']],
    ['/console/people/cyrus', '/console/people', ['Wallet', '@ann', 'Actions']],
  ] as const) {
    const page = await olga.show(path)
    const places = order.map((text) => page.byRole('main').text.indexOf(text))
    expect([path, places.every((at) => at > 0), places]).toEqual([
      path,
      true,
      places.toSorted((a, b) => a - b),
    ])
    expect(page.byRole('main').hrefs).toContain(up)
    // The reason is asked after the press: each field is in the dialog of its decision.
    for (const dialog of page.allByRole('dialog')) {
      expect(dialog.allByRole('textbox').map((box) => box.attribute('name'))).toEqual(['why'])
    }
    expect(page.allByRole('dialog').length).toBeGreaterThan(0)
  }
  expect((await olga.show('/console/agents/ann')).hrefs).toContain('/console/people/cyrus')
  const person = await olga.show('/console/people/cyrus')
  expect(person.hrefs).toContain('/console/keys/cyrus')
  expect(person.hrefs).toContain('/console/agents/ann')
  // A rejected decision shows its form, without a dialog.
  const rejected = shownPage((await decide(olga, '/console/agents/ann', 'suspend')).body)
  expect(rejected.allByRole('dialog')).toEqual([])
  expect(rejected.byRole('alert').text).toStartWith('Enter a reason')
})

test('offers one way to restore an app with an open appeal', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  const id = await ann.publish({ title: 'Boats', store: true })
  const path = `/console/apps/${id}`
  await decide(olga, path, 'takedown', 'malware')
  expect((await olga.show(path)).names('button')).toContain('Restore')
  await ann.call('POST', `/apps/${id}/appeal`, { text: 'I made it' })
  const page = await olga.show(path)
  expect(page.names('button')).toContain('Grant appeal')
  expect(page.names('button')).not.toContain('Restore')
  expect(page.allByRole('textbox').filter((box) => box.attribute('name') === 'why')).toHaveLength(1)
})

test('names the open page on the menu of a phone', async () => {
  const t = await open()
  const olga = await signInOperator(t)
  expect((await olga.show('/console/people')).names('button')).toContain('Console: People')
})

test('changes who may open an app, and records it', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await signUp(t, 'cyrus', '198.51.100.7')
  const id = await ann.publish({ title: 'Boats', store: true })
  const path = `/console/apps/${id}`
  const save = (values: Record<string, string>) => olga.fill(path, `${path}/audience`, values)

  const before = await t.snapshot()
  const noPassword = await save({ audience: 'password' })
  expect([noPassword.status, alertText(noPassword)]).toEqual([
    400,
    expect.stringContaining('Send “Password”'),
  ])
  const unknown = await save({ audience: 'people', people: 'nobody-at-all' })
  expect([alertText(unknown), ...typed(unknown, 'people')]).toEqual([
    expect.stringContaining('nobody-at-all'),
    'nobody-at-all',
  ])
  expect(alertText(await save({ audience: 'link', expiresAt: '2020-01-01' }))).toContain('future')
  expect(await t.snapshot()).toEqual(before)

  const saved = await save({ audience: 'people', people: 'cyrus', expiresAt: '2027-01-01' })
  expect([saved.status, saved.headers.get('location')]).toEqual([
    303,
    `${path}?done=audience&item=${id}`,
  ])
  expect((await t.request('GET', `/a/${id}`)).status).toBe(404)
  expect((await ann.call('GET', `/apps/${id}/audience`)).body).toMatchObject({
    audience: { audience: 'people', people: ['cyrus'], expiresAt: '2027-01-01T00:00:00.000Z' },
  })
  const page = await olga.open(path)
  expect([typed(page, 'people'), typed(page, 'expiresAt')]).toEqual([['cyrus'], ['2027-01-01', '']])
  expect(String(page.body)).toContain('audience')
  const [entry] = await listAudit(t.ctx, 5, id)
  expect(entry).toMatchObject({ by: 'olga', did: 'audience', item: id, why: 'people' })

  await decide(olga, path, 'takedown', 'malware')
  expect(typed(await olga.open(path), 'people')).toEqual([])
})

test('creates and revokes share links of any app, and records it', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  const id = await ann.publish({ title: 'Boats' })
  await ann.call('PATCH', `/apps/${id}/audience`, { audience: 'people', people: [] })
  const path = `/console/apps/${id}`
  const create = (values: Record<string, string>) => olga.fill(path, `${path}/links`, values)
  const links = async (): Promise<{ id: string }[]> =>
    Object((await ann.call('GET', `/apps/${id}/audience`)).body).audience.links

  const before = await t.snapshot()
  for (const [sent, message] of [
    [{ name: '', expiresAt: '' }, 'name'],
    [{ name: 'The board', expiresAt: '2020-01-01' }, 'future'],
    [{ name: 'The board', expiresAt: 'tomorrow' }, 'expiresAt'],
  ] as const) {
    const failed = await create(sent)
    expect([failed.status, alertText(failed).toLowerCase()]).toEqual([
      400,
      expect.stringContaining(message.toLowerCase()),
    ])
    expect(typed(failed, 'name')).toEqual([sent.name])
    // The other form keeps what is stored.
    expect(typed(failed, 'people')).toEqual([''])
  }
  expect(await t.snapshot()).toEqual(before)

  const made = await create({ name: 'The board', expiresAt: '2027-01-01' })
  const url = /http[^ <]+\/open\/\w+\/\w+/.exec(String(made.body))?.[0] ?? ''
  expect([made.status, (await t.request('GET', new URL(url).pathname)).status]).toEqual([200, 303])
  expect(await olga.read(path)).not.toContain(url)
  const [link] = await links()
  expect(link).toMatchObject({
    name: 'The board',
    expiresAt: '2027-01-01T00:00:00.000Z',
    used: expect.any(String),
  })
  expect((await listAudit(t.ctx, 1, id))[0]).toMatchObject({
    by: 'olga',
    did: 'share link',
    why: 'The board',
  })

  t.clock.advance(minute)
  const revoke = () => olga.fill(path, `${path}/revoke-link`, { link: link?.id ?? '' })
  expect((await revoke()).headers.get('location')).toBe(`${path}?done=revoke-link&item=${id}`)
  expect(await links()).toEqual([])
  expect((await t.request('GET', new URL(url).pathname)).status).toBe(404)
  expect((await listAudit(t.ctx, 1, id))[0]).toMatchObject({ by: 'olga', did: 'revoke share link' })
  const log = await olga.read(`/console/audit?q=${id}`)
  for (const label of ['Share link created', 'Share link revoked']) expect(log).toContain(label)
})

/** Returns the values of the fields of a name, one for each form that has it. */
const typed = ({ body }: { body: unknown }, name: string): string[] =>
  shownPage(body)
    .forms()
    .flatMap(({ fields }) => fields[name] ?? [])

test('keeps the typed reason and hash after an error', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await signUp(t, 'cyrus', '198.51.100.7')
  const id = await ann.publish({ title: 'Boats', store: true })
  const path = `/console/apps/${id}`
  const why = 'Three visitors wrote that it asks for a password.'
  // A decision that no longer applies leaves its reason to the others.
  const early = await decide(olga, path, 'restore', why)
  expect([alertText(early), ...typed(early, 'why')]).toEqual([
    expect.stringMatching(/^Nothing changed: this was already decided/),
    why,
    why,
  ])
  await decide(olga, path, 'takedown', 'malware')
  await ann.call('POST', `/apps/${id}/appeal`, { text: 'I made it' })
  // Only the appeal is open now, and its reply keeps the text.
  expect(typed(await decide(olga, path, 'takedown', why), 'why')).toEqual([why])
  const long = 'x'.repeat(2_001)
  expect(typed(await decide(olga, path, 'deny', long), 'why')).toEqual([long])
  expect(typed(await decide(olga, '/console/agents/ann', 'unsuspend', why), 'why')).toEqual([why])
  const person = '/console/people/cyrus'
  expect(typed(await decide(olga, person, 'unsuspend', why), 'why')).toEqual([why])

  const block = (sha256: string) =>
    olga.fill('/console/queue', '/console/blocklist', { decision: 'block', sha256, why })
  const rejected = await block('9f86d081')
  expect(alertText(rejected)).toBe('Enter a SHA-256 hash: 64 digits of 0-9 and a-f.')
  expect([typed(rejected, 'sha256'), typed(rejected, 'why')]).toEqual([['9f86d081'], [why]])
  // Some programs print hashes in upper case.
  expect((await block('9F'.repeat(32))).status).toBe(303)
})

describe('grants', () => {
  test('confirms the recipient and grants once', async () => {
    const t = await open()
    const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
    const ask = '/console/grants?to=%40ann&usd=0.25'
    const page = await olga.show(ask)
    for (const text of ['@ann', '400 credits', '650 credits']) expect(page.text).toContain(text)
    const fields = page.form('/console/grants').hiddenFields
    const send = () => olga.send('/console/grants', fields)
    for (const given of [...(await Promise.all([send(), send(), send()])), await send()]) {
      expect(given.headers.get('location')).toBe('/console/grants?done=%40ann')
    }
    expect((await ann.call('GET', '/me')).body).toMatchObject({ credits: 650 })
    const log = await olga.read('/console/audit')
    expect(log.match(/0\.25 USD/g)).toHaveLength(1)
    const done = await olga.read('/console/grants?done=%40ann')
    expect(done).toContain('650 credits.')
    const other = await olga.send('/console/grants', { ...fields, usd: '5' })
    expect(other.status).toBe(409)

    const before = await t.snapshot()
    for (const usd of ['0', '-1', 'x', '1e9', '1000001', '0.0000000001', '9'.repeat(12)]) {
      const bad = await olga.open(`/console/grants?to=%40ann&usd=${usd}`)
      expect([usd, bad.status, alertText(bad)]).toEqual([
        usd,
        400,
        expect.stringMatching(/USD .* 1,000,000\.$/),
      ])
      expect((await olga.send('/console/grants', { ...fields, usd })).status).toBe(400)
    }
    const nobody = await olga.open('/console/grants?to=nobody&usd=1')
    expect([nobody.status, alertText(nobody)]).toEqual([
      400,
      'No agent, person or gateway account has this name. Check the name.',
    ])
    expect((await olga.send('/console/grants', { ...fields, ref: '' })).status).toBe(400)
    expect(await t.snapshot()).toEqual(before)
  })

  test('grants to people and gateway accounts', async () => {
    const t = await open()
    const olga = await signInOperator(t)
    await signUp(t, 'cyrus', '198.51.100.7')
    const made = await t.request('POST', '/accounts/create', { body: {} })
    const account = made.text('credit_id')
    for (const [to, name] of [
      ['CYRUS', 'cyrus'],
      [account, account],
    ]) {
      const ask = `/console/grants?to=${to}&usd=2`
      const given = await olga.fill(
        ask,
        '/console/grants',
        hiddenFields(await olga.read(ask), '/console/grants'),
      )
      expect(given.headers.get('location')).toBe(`/console/grants?done=${name}`)
    }
    const people = shownPage(await olga.read('/console/people?q=cy')).byRole('main')
    expect(people.text).toContain('2,000')
    expect(people.names('link')).not.toContain('olga')
  })
})

test('pages lists without repeating rows', async () => {
  const t = await open()
  const olga = await signInOperator(t)
  const handles: string[] = []
  for (let at = 0; at < 65; at += 1) {
    const handle = `agent-${at}`
    const { status } = await t.call('POST', '/keys', { body: { handle } })
    if (status === 201) handles.push(handle)
  }
  expect(handles.length).toBeGreaterThan(60)
  const found: string[] = []
  for (let path: string | undefined = '/console/agents?q=agent'; path !== undefined;) {
    const page: Shown = await olga.show(path)
    found.push(
      ...page.hrefs.flatMap((href) => /^\/console\/agents\/([\w-]+)$/.exec(href)?.[1] ?? []),
    )
    path = page.allByRole('link', 'Show more')[0]?.attribute('href') ?? undefined
  }
  expect(found.toSorted()).toEqual(handles.toSorted())
})

test('charts measurements with their units', async () => {
  const t = await open()
  const [ann, olga] = [await t.agent('ann'), await signInOperator(t)]
  await recordMetrics(t.ctx)
  for (let at = 0; at < 5; at += 1) await ann.call('GET', '/me')
  t.clock.advance(minute)
  await recordMetrics(t.ctx)
  const html = await olga.read('/console')
  const page = shownPage(html)
  const requests = html.slice(html.indexOf('data-title="Requests"'))
  expect(shownPage(requests).names('cell').join(' ')).toMatch(/\b0\.\d+\/s( |$)/)
  // Scripts draw the charts and load the page again.
  expect(html).toContain('data-title="Latency"')
  expect(html).toContain('<auto-refresh')
  expect(page.text).toContain('800 credits $0.80')
  // The line of health has what is paused and queued, and no other fact repeats it.
  for (const name of ['Upstreams paused', 'Jobs queued']) {
    expect(page.text.split(name)).toHaveLength(2)
  }
  expect(page.text).not.toContain('none paused')
})

test('shows upstream prices, our prices and the margin', async () => {
  const t = await open({ MARGIN_PERCENT: '20' })
  const olga = await signInOperator(t)
  const page = await olga.read('/console/models?q=demo/chat')
  const { text } = shownPage(page)
  expect(text).toContain('$0.10 / 1M input tokens')
  expect(text).toContain('$0.12 / 1M input tokens')
  expect(page).toContain('20 %')
  expect(page).not.toContain('demo/image')
})

test('lets the operator sign in and free space on a full disk', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const id = await ann.publish()
  await signInOperator(t)
  t.ctx.storage.requireFreeSpace = () => {
    throw new ApiError('try_again', { why: 'the disk is full' })
  }
  const name = 'olga'
  const olga = new FormBrowser(t)
  expect((await olga.fill('/sign-in', '/sign-in', { name, password })).status).toBe(303)
  expect((await decide(olga, `/console/apps/${id}`, 'takedown', 'malware')).status).toBe(303)
  expect((await t.request('GET', `/a/${id}`)).status).toBe(410)
  const cy = new FormBrowser(t, '198.51.100.7')
  expect((await cy.fill('/sign-up', '/sign-up', { name: 'cyrus', password })).status).toBe(503)
  expect((await ann.call('POST', '/apps', { html: '<title>Boats</title>' })).status).toBe(503)
})

test('leads from an agent to its public page once it has one', async () => {
  const t = await open()
  const ann = await t.agent('ann')
  const olga = await signInOperator(t)
  expect((await olga.show('/console/agents/ann')).hrefs).not.toContain('/explore/@ann')
  await ann.publish({ store: true })
  expect((await olga.show('/console/agents/ann')).hrefs).toContain('/explore/@ann')
})

test('lists all agents of a person, 30 on a page', async () => {
  const t = await open()
  const olga = await signInOperator(t)
  const cy = await signUp(t, 'cyrus', '198.51.100.7')
  // The person has one from the sign-up.
  for (let count = 0; count < 30; count += 1) await claimAgent(cy, await t.agent(`a${count}`))
  const first = await olga.show('/console/people/cyrus')
  const linked = ({ hrefs }: Shown) => hrefs.filter((href) => href.startsWith('/console/agents/'))
  expect(linked(first)).toHaveLength(30)
  const next = first.hrefs.find((href) => href.includes('cursor=')) ?? ''
  expect(linked(await olga.show(next))).toHaveLength(1)
})
