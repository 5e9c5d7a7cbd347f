import { afterAll, expect, test } from 'bun:test'

import { isRecord } from '../../kernel/schema.ts'
import { closeWithoutErrors } from '../../testing/fixtures/closed-servers.ts'
import {
  alertText,
  claimAgent,
  FormBrowser,
  hiddenFields,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { type Shown, shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const ben = await t.agent('ben')
/** The owner of `ann`, who makes the items. */
const annette = await signUp(t, 'annette', '198.51.100.1')
/** The owner of `ben`. */
const bella = await signUp(t, 'bella', '198.51.100.2')
await claimAgent(annette, ann)
await claimAgent(bella, ben)
const id = await ann.publish({ title: 'Harbour Lights', kind: 'game', store: true })
afterAll(() => closeWithoutErrors(t))

const result = ({ status, headers }: TestResponse) => [status, headers.get('location')]
/** Returns the reviews or comments, newest first. */
const feedback = async (kind: 'reviews' | 'comments'): Promise<Record<string, unknown>[]> => {
  const { body } = await t.call('GET', `/explore/${id}/${kind}`)
  const all = isRecord(body) ? body[kind] : undefined
  return Array.isArray(all) ? all.filter(isRecord) : []
}

/** Returns the number of stars that a form has chosen. */
const starsIn = (page: Shown): string[] =>
  page
    .allByRole('radio', / of 5$/)
    .filter(({ isChecked }) => isChecked)
    .map(({ value }) => value)

/** Submits a form of the item page. */
const send = async (
  browser: FormBrowser,
  name: string,
  values: Record<string, string>,
): Promise<TestResponse> => {
  const item = await browser.read(`/explore/${id}`)
  const { token = '' } = hiddenFields(item, `/explore/${id}/comments`)
  return browser.send(`/explore/${id}/${name}`, { token, ...values })
}

test('redirects visitors to sign-in and back', async () => {
  const guest = new FormBrowser(t)
  const item = await guest.show(`/explore/${id}`)
  expect(item.hrefs).toContain(`/explore/${id}/remix`)
  expect(item.hrefs).toContain(`/sign-in?next=%2Fexplore%2F${id}`)
  expect(item.allByRole('textbox')).toEqual([])
  expect(item.forms().filter((form) => form.attribute('method') === 'post')).toEqual([])
  const remix = await guest.open(`/explore/${id}/remix`)
  expect(result(remix)).toEqual([303, `/sign-in?next=%2Fexplore%2F${id}%2Fremix`])
  const before = await t.snapshot()
  for (const name of ['remix', 'review', 'comments']) {
    const referer = `http://localhost:3000/explore/${id}`
    const response = await guest.send(`/explore/${id}/${name}`, { text: 'hi' }, { referer })
    expect(result(response)).toEqual([303, `/sign-in?next=%2Fexplore%2F${id}`])
  }
  expect(await t.snapshot()).toEqual(before)
  // GET on the path of an action opens the item.
  for (const [name, section] of [
    ['review', 'reviews'],
    ['comments', 'comments'],
  ]) {
    const response = await guest.open(`/explore/${id}/${name}`)
    expect(result(response)).toEqual([303, `/explore/${id}#${section}`])
  }
  expect((await annette.open('/explore/AAAAAAAAAAAA/remix')).status).toBe(404)
})

test('shows private pages to people only', async () => {
  const response = await bella.open(`/explore/${id}`)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(shownPage(response.body).forms(`/explore/${id}/comments`)).not.toEqual([])
  const guest = await new FormBrowser(t).open(`/explore/${id}`)
  expect(guest.headers.get('cache-control')).toBe('no-cache')
  // An old session is no session.
  const old = new FormBrowser(t)
  old.set('berth', 'x'.repeat(40))
  expect(await old.read(`/explore/${id}`)).toBe(String(guest.body))
})

test('reviews an item that the person opened while signed in', async () => {
  const values = { as: 'ben', stars: '4', text: 'Calm.\r\nAnd quick.' }
  expect(await bella.read(`/explore/${id}`)).toContain('it first, then rate it')
  const early = await send(bella, 'review', values)
  expect([early.status, alertText(early)]).toEqual([403, 'Open this app before you review it.'])
  // The typed values stay.
  expect(starsIn(shownPage(early.body))).toEqual(['4'])
  expect(shownPage(early.body).values('textbox')).toContain(values.text)

  expect((await bella.open(`/a/${id}`)).status).toBe(200)
  const item = await bella.read(`/explore/${id}`)
  const { token = '' } = hiddenFields(item, `/explore/${id}/review`)
  const none = await bella.send(`/explore/${id}/review`, { token, ...values, stars: '9' })
  expect([none.status, alertText(none)]).toEqual([400, '“Stars” must be a number from 1 to 5.'])
  const posted = await bella.send(`/explore/${id}/review`, { token, ...values })
  expect(result(posted)).toEqual([303, `/explore/${id}#reviews`])
  const [review] = await feedback('reviews')
  expect(review).toMatchObject({ author: '@ben', stars: 4, text: 'Calm.\nAnd quick.' })
  // The agent's own key follows the same rule: its owner used the item.
  const again = await ben.call('PUT', `/explore/${id}/review`, { stars: 5 })
  expect(again.status).toBe(200)
  const own = await bella.show(`/explore/${id}`)
  expect(own.names('heading')).toContain('Your review')
  expect(starsIn(own)).toEqual(['5'])
  const removed = await bella.send(`/explore/${id}/review`, { token, as: 'ben', remove: 'yes' })
  expect(result(removed)).toEqual([303, `/explore/${id}#reviews`])
  expect(await feedback('reviews')).toEqual([])
})

test('does not offer a review to the owner of the maker', async () => {
  const item = await annette.show(`/explore/${id}`)
  expect(item.hrefs).toContain(`/studio/${id}/build`)
  expect(item.forms(`/explore/${id}/review`)).toEqual([])
  expect(item.hrefs).not.toContain(`/explore/${id}/remix`)
  await annette.open(`/a/${id}`)
  const response = await send(annette, 'review', { as: 'ann', stars: '5', text: '' })
  expect([response.status, alertText(response)]).toEqual([
    403,
    'You cannot review your own app. Reply to its reviews instead.',
  ])
})

test('comments, replies, hides and deletes', async () => {
  const empty = await send(bella, 'comments', { as: 'ben', text: ' ' })
  expect([empty.status, alertText(empty)]).toEqual([400, '“Text” needs 1 to 1000 characters.'])
  const posted = await send(bella, 'comments', { as: 'ben', text: 'How far?' })
  expect(result(posted)).toEqual([303, `/explore/${id}#comments`])
  const [first] = await feedback('comments')
  const comment = String(first?.['id'])
  expect(first).toMatchObject({ author: '@ben', text: 'How far?', replyTo: null })
  const replying = await annette.read(`/explore/${id}?reply=${comment}`)
  expect(replying).toContain('Reply to @ben')
  // The form of a reply is below its comment.
  const forms = shownPage(replying).forms(`/explore/${id}/comments`)
  expect(forms.map(({ hiddenFields: fields }) => fields['replyTo'] ?? '')).toContain(comment)
  const reply = { as: 'ann', text: 'To the end.', replyTo: comment }
  t.clock.advance(1_000)
  expect((await send(annette, 'comments', reply)).status).toBe(303)
  expect(await feedback('comments')).toMatchObject([{ replyTo: comment }, { id: comment }])
  // Only the maker pins a comment, which is then the first one.
  const texts = async () =>
    shownPage(await bella.read(`/explore/${id}`))
      .allByRole('listitem')
      .flatMap(({ text }) => /How far\?|To the end\.|And back\?/.exec(text)?.[0] ?? [])
  t.clock.advance(1_000)
  await send(bella, 'comments', { as: 'ben', text: 'And back?' })
  // Threads are in the order of time, and a reply is in its thread.
  expect(await texts()).toEqual(['How far?', 'To the end.', 'And back?'])
  const [last] = await feedback('comments')
  const pin = { pin: String(last?.['id']), pinned: 'true' }
  expect((await send(bella, 'comments', { as: 'ben', ...pin })).status).toBe(404)
  expect((await send(annette, 'comments', { as: 'ann', ...pin })).status).toBe(303)
  expect(await texts()).toEqual(['And back?', 'How far?', 'To the end.'])
  const shown = shownPage(await annette.read(`/explore/${id}`))
  expect(shown.allByRole('button', 'Unpin')).toHaveLength(1)
  expect(shown.allByRole('button', 'Pin')).toHaveLength(2)
  // The maker hides another's comment; the author deletes their own.
  const removal = async (browser: FormBrowser, as: string, remove: unknown) =>
    (await send(browser, 'comments', { as, remove: String(remove) })).status
  const response = (await feedback('comments')).find((one) => one['author'] === '@ann')
  expect(await removal(bella, 'ben', response?.['id'])).toBe(404)
  expect(await removal(bella, 'ben', last?.['id'])).toBe(303)
  expect(await removal(annette, 'ann', comment)).toBe(303)
  expect(await feedback('comments')).toMatchObject([{ author: '@ann' }])
  expect(await removal(annette, 'ann', response?.['id'])).toBe(303)
  expect(await feedback('comments')).toEqual([])
  const request = `/api/explore/${id}/comments -H `
  expect(await bella.read(`/explore/${id}`)).toContain(request)
  await ann.call('PATCH', `/apps/${id}`, { comments: false })
  expect((await bella.show(`/explore/${id}`)).names('textbox')).not.toContain('Comment')
  expect(await bella.read(`/explore/${id}`)).not.toContain(request)
  await ann.call('PATCH', `/apps/${id}`, { comments: true })
})

test('acts only as an own agent that is not suspended', async () => {
  const before = await t.snapshot()
  for (const as of ['ann', '', 'nobody', '@ann']) {
    for (const name of ['comments', 'review', 'remix']) {
      const values = { as, stars: '5', text: 'hi', maxCredits: '0', ref: 'A'.repeat(12) }
      expect([as, name, (await send(bella, name, values)).status]).toEqual([as, name, 404])
    }
  }
  const forged = { as: 'ben', text: 'hi', token: 'x' }
  expect((await bella.send(`/explore/${id}/comments`, forged)).status).toBe(403)
  const evil = { origin: 'https://evil.example' }
  expect((await bella.send(`/explore/${id}/comments`, forged, evil)).status).toBe(403)
  expect(await t.snapshot()).toEqual(before)
})
