/** The pages of the studio, whose tests share one app with its owner and the forms of its pages. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { decideAppeal, quarantine, takeDown } from '../../apps/moderation/moderation.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import {
  alertText,
  claimAgent,
  type FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { type Shown, shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'

const page = (word: string): string =>
  `<!doctype html>\n<title>Boat</title>\n<p>one</p>\n<p>${word}</p>\n`

let t: TestServer
let ann: TestAgent
let olga: FormBrowser
let id = ''

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
  id = await ann.publish({ html: page('first'), title: 'Boat <b>', store: true })
  await ann.call('POST', `/apps/${id}/versions`, { html: page('second'), note: 'Faster <i>.' })
  olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
})
afterEach(() => closeWithoutErrors(t))

const at = (name = ''): string => `/studio/${id}${name && `/${name}`}`
const open = (name = ''): Promise<string> => olga.read(at(name))
const show = (name = ''): Promise<Shown> => olga.show(at(name))
const act = async (from: string, name: string, values: Record<string, string> = {}) =>
  olga.send(at(name), { ...hiddenFields(await open(from), at(name)), ...values })
/** Runs an action and returns the page that it leads to, with its note. */
async function after(from: string, name: string, values?: Record<string, string>): Promise<string> {
  const { status, headers } = await act(from, name, values)
  expect([status, headers.get('location')]).toEqual([303, at(from)])
  return open(from)
}
/** The fields of the settings as the page has them. */
const termsShown = async () => (await show('listing')).form(at('details')).fields
const app = async (): Promise<unknown> => (await ann.call('GET', `/apps/${id}`)).body

/** Submits a form with a file, as browsers do. */
async function upload(name: string, file: Blob, token?: string) {
  const form = new FormData()
  form.set('token', token ?? hiddenFields(await open('assets'), at('upload')).token ?? '')
  form.set('name', name)
  form.set('file', file, 'file.bin')
  return olga.send(at('upload'), form)
}

const png = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
)
/** A hundred samples of silence (RIFF WAVE, 8 bits, 8 kHz). */
const wav = Buffer.concat([
  Buffer.from('RIFF\x88\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0', 'latin1'),
  Buffer.from('\x40\x1f\0\0\x01\0\x08\0data\x64\0\0\0', 'latin1'),
  Buffer.alloc(100, 128),
])

const names = ['', 'versions', 'changes', 'assets', 'listing', 'safety', 'errors', 'access']

describe('access', () => {
  test('hides apps of other people and redirects to sign-in', async () => {
    const cy = await signUp(t, 'cyrus')
    const unknown = await cy.read('/studio/AAAAAAAAAAAA')
    for (const name of names) {
      const response = await cy.open(at(name))
      expect([name, response.status, String(response.body)]).toEqual([name, 404, unknown])
      const guest = await t.request('GET', at(name))
      const next = `/sign-in?next=${encodeURIComponent(at(name))}`
      expect([guest.status, guest.headers.get('location')]).toEqual([303, next])
    }
    const token = hiddenFields(await cy.read('/agents'), '/claim').token ?? ''
    const before = await t.snapshot()
    for (const name of ['restore', 'details', 'delete', 'rescan', 'appeal', 'remove', 'undelete']) {
      const response = await cy.send(at(name), { token, version: '1', text: 'x' })
      expect([name, response.status]).toEqual([name, 404])
    }
    expect(await t.snapshot()).toEqual(before)
  })

  test('cross_site: requires the token, the origin and POST', async () => {
    const { token = '' } = hiddenFields(await open('versions'), at('restore'))
    const before = await t.snapshot()
    const tries = [
      await olga.send(at('restore'), { version: '1' }),
      await olga.send(at('restore'), { version: '1', token }, { origin: 'https://evil.example' }),
      await olga.send(at('delete'), { token: 'x' }),
      await upload('a.json', new Blob(['1']), 'x'),
    ]
    expect(tries.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await olga.open(at('restore'))).headers.get('location')).toBe(at('versions'))
    expect((await olga.send(at('nothing'), { token })).status).toBe(404)
    expect((await olga.open(at('nothing'))).status).toBe(404)
    expect(await t.snapshot()).toEqual(before)
  })

  test('has no studio for closed agents and is read-only for suspended ones', async () => {
    const { suspendAgent: suspend } = await import('../../people/agents/agents.ts')
    await t.ctx.db.tx((db) => suspend(t.ctx, db, 'ann', 'spam'))
    const rejected = await act('listing', 'explore', { store: 'no' })
    expect([rejected.status, alertText(rejected)]).toEqual([
      403,
      expect.stringContaining('suspended'),
    ])
    await t.ctx.db.tx((db) => suspend(t.ctx, db, 'ann', null))
    t.ctx.keys.forget()
    expect((await ann.call('DELETE', '/me')).status).toBe(200)
    for (const name of names) expect((await olga.open(at(name))).status).toBe(404)
  })
})

describe('versions', () => {
  test('lists, compares and restores versions', async () => {
    const list = await show('versions')
    expect(list.allByText('now')[0]?.attribute('title')).toBe('4 May 2026, 12:00 UTC')
    expect(list.text).toContain('1 KB')
    expect(list.text).toContain('Faster <i>.')
    expect(list.hrefs).toContain(`/a/${id}/versions/1`)
    const changes = await show('changes')
    expect(changes.text).toContain('Version 1 to version 2')
    expect(changes.text).toContain('1 line added, 1 line removed.')
    const rows = changes.names('row')
    expect(rows).toContainEqual(expect.stringMatching(/Removed.*<p>first<\/p>/))
    expect(rows).toContainEqual(expect.stringMatching(/Added.*<p>second<\/p>/))
    expect(await open('changes?from=1&to=1')).toContain('No changes of the page.')
    for (const query of ['from=0', 'to=x', 'from=1&to=1.5', 'to=9999']) {
      expect([query, (await olga.open(at(`changes?${query}`))).status]).toEqual([query, 400])
    }
    expect((await olga.open(at('changes?to=3'))).status).toBe(404)
    const done = await act('versions', 'restore', { version: '1' })
    expect([done.status, done.headers.get('location')]).toEqual([303, at('versions')])
    expect(await open('versions')).toContain('Version 1 again.')
    expect((await ann.call('GET', `/apps/${id}/html`)).body).toBe(page('first'))
    expect((await act('versions', 'restore', { version: '9' })).status).toBe(404)
    for (const version of ['', 'x', '-1', '1.5', '1e999']) {
      expect((await act('versions', 'restore', { version })).status).toBe(400)
    }
  })

  test('shows the covers of versions to others only while Explore shows the app', async () => {
    const capture = fakeCaptures(t)
    expect(await capture()).toEqual([page('second'), page('first')])
    const covers = async (): Promise<string[]> => {
      const images = (await show('versions')).sources
      return images.filter((path) => path.startsWith('/covers/'))
    }
    const [second = '', first = '', ...more] = await covers()
    expect([second, first, more]).toEqual([
      expect.stringContaining(`/covers/${id}/2-`),
      expect.stringContaining(`/covers/${id}/1-`),
      [],
    ])
    const image = await olga.open(first)
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/webp'])
    expect(image.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    const cy = await signUp(t, 'cyrus')
    const openedByOthers = async () =>
      Promise.all(
        [first, second]
          .flatMap((path) => [cy.open(path), t.request('GET', path)])
          .map(async (one) => (await one).status),
      )
    expect(await openedByOthers()).toEqual([200, 200, 200, 200])
    await ann.call('PATCH', `/apps/${id}`, { store: false })
    expect(await openedByOthers()).toEqual([404, 404, 404, 404])
    expect((await olga.open(first)).status).toBe(200)
    expect((await olga.open(first.replace('/1-', '/2-'))).status).toBe(404)

    await act('versions', 'restore', { version: '1' })
    expect((await covers())[0]).toBe(first.replace('/1-', '/3-'))
    await ann.call('POST', `/apps/${id}/versions`, { html: page('fourth') })
    expect(await covers()).toHaveLength(3)
    const shown = shownPage(await open('versions'))
    expect(shown.text).toMatch(/Version 4.*?Live.*?\bnow\b/)
    expect(shown.allByText('now')[0]?.attribute('datetime')).toStartWith('2026-05-')
    await ann.call('DELETE', `/apps/${id}`)
    expect((await olga.open(first)).status).toBe(404)
  })

  test('pages older versions', async () => {
    for (let more = 0; more < 30; more += 1) {
      t.clock.advance(3_600_000)
      await ann.call('POST', `/apps/${id}/versions`, { html: page(`more ${more}`) })
    }
    const list = await show('versions')
    expect(list.allByText('Version 2')).toEqual([])
    expect(list.allByText('yesterday')[0]?.attribute('title')).toBe('4 May 2026, 18:00 UTC')
    const next = list.byRole('link', 'Show more').attribute('href') ?? ''
    expect((await olga.show(next)).hrefs).toContain(`/a/${id}/versions/1`)
    expect((await olga.open(at('versions?cursor=odd'))).status).toBe(400)
  })
})

describe('assets', () => {
  const asks = JSON.stringify([{ name: 'bell.ogg', kind: 'sound', what: 'A <bell>' }])

  test('previews, uploads and deletes assets and lists missing ones', async () => {
    const html = `${page('third')}<script type="application/json" data-assets>${asks}</script>`
    await ann.call('POST', `/apps/${id}/versions`, { html })
    await ann.call('PUT', `/apps/${id}/assets/ship.png`, png)
    await ann.call('PUT', `/apps/${id}/assets/ding.wav`, wav)
    const list = await show('assets')
    expect(list.text).toContain('A <bell>')
    const [name = ''] = list.names('link').filter((one) => one.startsWith('Upload '))
    const link = list.byRole('link', name).attribute('href') ?? ''
    const { fields } = (await show(`assets${link.replace('#upload', '')}`)).form(at('upload'))
    expect(`Upload ${fields['name']}`).toBe(name)
    const previews = await Promise.all(list.sources.map((path) => t.request('GET', path)))
    const types = previews.map(({ status, headers }) => [status, headers.get('content-type')])
    expect(types.toSorted()).toEqual([
      [200, 'audio/wav'],
      [200, 'image/png'],
    ])
    expect((await upload('lamp.json', new Blob(['{"lit":true}']))).status).toBe(303)
    const lamp = await ann.call('GET', `/apps/${id}/assets/lamp.json`)
    expect(lamp.body).toEqual({ lit: true })
    const gone = await act('assets', 'remove', { name: 'lamp.json' })
    expect([gone.status, gone.headers.get('location')]).toEqual([303, at('assets')])
    expect((await ann.call('GET', `/apps/${id}/assets/lamp.json`)).status).toBe(404)
  })

  test('bad_asset, bad_request, too_large: rejects invalid uploads', async () => {
    const before = await t.snapshot()
    const unfit = await upload('x.png', new Blob(['<script>alert(1)</script>']))
    expect([unfit.status, alertText(unfit)]).toEqual([422, expect.any(String)])
    expect((await upload('../x.json', new Blob(['1']))).status).toBe(400)
    expect((await upload('x.json', new Blob([]))).status).toBe(400)
    expect((await upload('x.json', new Blob([new Uint8Array(4 * 1_048_576 + 1)]))).status).toBe(413)
    expect((await upload('x.json', new Blob([new Uint8Array(5 * 1_048_576)]))).status).toBe(413)
    const { token = '' } = hiddenFields(await open('assets'), at('upload'))
    expect((await olga.send(at('remove'), { token, name: 'none.png' })).status).toBe(404)
    const odd = { 'content-type': 'multipart/form-data; boundary=x' }
    expect((await olga.send(at('upload'), `token=${token}`, odd)).status).toBe(400)
    expect(await t.snapshot()).toEqual(before)
  })
})

describe('listing', () => {
  test('changes details, listing and price and shows the result', async () => {
    const details = { title: 'Ship', description: 'Two\r\nlines', shelf: 'art' }
    const saved = shownPage(await after('listing', 'details', details))
    expect(saved.byRole('status').text).toBe('Saved. It stays on Explore.')
    expect((await show('listing')).allByRole('status', /Saved/)).toEqual([])
    const update = { ...details, description: 'Two\nlines', comments: false, listed: 'on' }
    expect(await app()).toMatchObject({ app: update })
    const off = await after('listing', 'explore', { store: 'no' })
    expect(off).toContain('It is now off Explore. Its link works.')
    const on = await after('listing', 'explore', { store: 'yes' })
    expect(on).toContain('It is now on Explore.')
    const terms = { ...details, live: 'yes', priceRemix: '40' }
    const priced = await after('listing', 'details', { ...terms, remix: 'price' })
    expect(priced).toContain('A remix costs 40 credits now.')
    expect(await app()).toMatchObject({ app: { priceRemix: 40, live: true } })
    await act('listing', 'details', { ...terms, remix: 'free' })
    expect(await app()).toMatchObject({ app: { remix: 'free', priceRemix: null } })
  })

  test('bad_request, not_listable: shows the form with the error', async () => {
    const details = { title: 'Ship', description: '', shelf: 'art' }
    for (const bad of [{ title: '' }, { title: 'x'.repeat(81) }, { shelf: 'none' }]) {
      expect((await act('listing', 'details', { ...details, ...bad })).status).toBe(400)
    }
    for (const remix of [
      { remix: 'price' },
      { remix: 'x' },
      ...['-1', '0', '1.5', '100001'].map((priceRemix) => ({ remix: 'price', priceRemix })),
    ]) {
      expect((await act('listing', 'details', { ...details, ...remix })).status).toBe(400)
    }
    await act('listing', 'explore', { store: 'no' })
    const html = '<!doctype html><meta http-equiv=refresh content="0;url=https://evil.example/">'
    await ann.call('POST', `/apps/${id}/versions`, { html })
    const response = await act('listing', 'explore', { store: 'yes' })
    expect([response.status, alertText(response)]).toEqual([
      422,
      expect.stringContaining('Explore'),
    ])
  })

  test('an old page changes only the settings that were changed on it', async () => {
    const { fields } = (await show('listing')).form(at('details'))
    const terms = { title: 'Ferry', shelf: 'art', remix: 'price', priceRemix: 40, live: true }
    await ann.call('PATCH', `/apps/${id}`, terms)
    const sent = { ...fields, description: 'Typed\r\nhere.' }
    expect((await olga.send(at('details'), sent)).status).toBe(303)
    expect(await app()).toMatchObject({
      app: { ...terms, description: 'Typed\nhere.', comments: true, embeds: true },
    })
    expect(await after('listing', 'details', await termsShown())).toContain('Nothing was changed.')
    const cheap = { ...(await termsShown()), priceRemix: '5' }
    expect(await after('listing', 'details', cheap)).toContain('A remix costs 5 credits now.')
    const { token = '' } = fields
    for (const shown of ['', '[]x']) {
      const wrong = await olga.send(at('details'), { token, title: 'Other', shown })
      expect(alertText(wrong)).toBe('Reload the page and try again.')
    }
    expect(await app()).toMatchObject({ app: { title: 'Ferry' } })
  })

  test('keeps the typed values after an error', async () => {
    const typed = { title: ' ', description: 'A long\r\n<story>', shelf: 'art' }
    const details = await act('listing', 'details', typed)
    expect([details.status, alertText(details)]).toEqual([400, '“Title” needs 1 to 80 characters.'])
    const form = shownPage(details.body).form(at('details'))
    expect(form.byLabel(/^Description/).value).toBe(typed.description)
    expect(form.byLabel('Shelf').value).toBe('art')
    expect(form.byRole('checkbox', 'Allow comments').isChecked).toBe(false)
    for (const priceRemix of ['', '2.5', '100001']) {
      const priced = { ...typed, title: 'Ship', remix: 'price', priceRemix }
      const terms = await act('listing', 'details', priced)
      expect(alertText(terms)).toBe('“Remix price” must be a number from 1 to 100000.')
      expect(shownPage(terms.body).form(at('details')).fields).toMatchObject({
        remix: 'price',
        priceRemix,
      })
    }
    expect(String((await upload('My ship.png', new Blob([png]))).body)).toContain('"My ship.png"')
  })

  test('restores a deleted app', async () => {
    expect((await act('listing', 'delete')).status).toBe(303)
    expect((await t.request('GET', `/a/${id}`)).status).toBe(410)
    const gone = await olga.open(at('versions'))
    expect([gone.status, String(gone.body)]).toEqual([410, expect.stringContaining('deleted on')])
    expect((await act('', 'undelete')).headers.get('location')).toBe(at())
    expect(await app()).toMatchObject({ app: { state: 'live' } })
  })
})

describe('analytics and safety', () => {
  test('leads from an unused app to its next step', async () => {
    expect((await show()).text).toMatch(/Nobody has used it yet.*Explore shows version 2/)
    await act('listing', 'explore', { store: 'no' })
    const page = await show()
    expect(page.text).toContain(`http://localhost:3000/a/${id}`)
    expect(page.byRole('button', 'List on Explore').text).toBe('List on Explore')
    const listed = await act('', 'explore', { store: 'yes' })
    expect([listed.status, listed.headers.get('location')]).toEqual([303, at('listing')])
    expect((await show()).text).toContain('Explore shows version 2')
  })

  test('charts opens by day and shows remixes and earnings', async () => {
    const details = { title: 'Boats', description: '', shelf: 'other' }
    await act('listing', 'details', { ...details, remix: 'price', priceRemix: '40' })
    const ben = await t.agent('ben')
    await ben.call('POST', `/apps/${id}/remix`)
    for (const from of ['198.51.100.1', '198.51.100.2']) {
      await t.request('GET', `/a/${id}/data`, { from })
    }
    const { flushOpens: writeOpens } = await import('../../apps/opens.ts')
    await writeOpens(t.ctx)
    t.clock.advance(86_400_000)
    const { text } = await show()
    expect(text).toContain('2 opens in 30 days, peak 2 a day')
    expect(text).toMatch(/4 May ?2 opens/)
    expect(text).toContain('1 sale for 40 credits. Platform fee: 8. @ann received 32.')
  })

  test('shows findings with their source lines and runs the check again', async () => {
    const html = `${page('x')}<script src="https://cdn.example.com/&amp;.js"></script>\n<p>y`
    await ann.call('POST', `/apps/${id}/versions`, { html })
    const list = await show('safety')
    expect(list.text).toMatch(/Allowed, with warnings.*External file.*Warning.*net\.external/)
    expect(list.byRole('link', 'Edit line 5').attribute('href')).toBe(at('code?line=5'))
    expect(await open('code?line=5')).toContain('data-line="5"')
    expect(list.names('row')).toContainEqual(expect.stringMatching(/^5 <script src=/))
    t.clock.advance(60_000)
    expect(await after('safety', 'rescan')).toContain('Safety check completed.')
    expect(await open('safety')).toContain('12:01 UTC')
  })

  test('explains a quarantine or takedown and accepts one appeal', async () => {
    expect(
      (
        await olga.send(at('appeal'), {
          ...hiddenFields(await open('safety'), at('rescan')),
          text: 'x',
        })
      ).status,
    ).toBe(409)
    await quarantine(t.ctx, id, 'it looks <odd>', 'operator')
    expect(shownPage(await open()).text).toContain('Quarantined: it looks <odd>.')
    expect((await act('safety', 'appeal', { text: ' ' })).status).toBe(400)
    const before = hiddenFields(await open('safety'), at('appeal'))
    expect((await act('safety', 'appeal', { text: 'It is\r\na <story>.' })).status).toBe(303)
    const { text: appealed } = await show('safety')
    expect(appealed).toContain('It is a <story>.')
    expect(appealed).toContain('The operator reviews every appeal.')
    expect(appealed).not.toContain('Reason for the appeal')
    expect((await olga.send(at('appeal'), { ...before, text: 'again' })).status).toBe(409)
    await decideAppeal(t.ctx, id, false, 'It is <odd>.', 'operator')
    expect(shownPage(await open('safety')).text).toContain('The appeal was denied: It is <odd>.')
    t.clock.advance(1_000)
    await takeDown(t.ctx, id, 'phishing', 'operator')
    for (const name of names) {
      const gone = await olga.open(at(name))
      expect([gone.status, String(gone.body)]).toEqual([410, expect.stringContaining('phishing')])
    }
    const rejected = await olga.send(at('restore'), {
      ...hiddenFields(await open(), at('appeal')),
      version: '1',
    })
    expect([rejected.status, alertText(rejected)]).toEqual([
      410,
      expect.stringContaining('taken down'),
    ])
    expect((await act('', 'appeal', { text: 'It is a story.' })).status).toBe(303)
    expect(await open()).toContain('Appeal submitted on')
  })
})
