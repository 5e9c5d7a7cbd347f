import { afterAll, expect, test } from 'bun:test'

import { claimAgent, hiddenFields, signUp } from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const olga = await signUp(t, 'olga', '198.51.100.1')
await claimAgent(olga, ann)
const id = await ann.publish({ store: true })
const size = { width: 640, height: 480 }
const request = { kind: 'picture', what: 'a harbor', seed: '1', ...size } as const
const image = (await t.ctx.generators.generate(request)).bytes
afterAll(() => t.close())

const listing = (): Promise<string> => olga.read(`/studio/${id}/listing`)

/** Submits a form with a file, as browsers do. */
async function send(name: string, fields: Record<string, string>, file?: Uint8Array<ArrayBuffer>) {
  const action = `/studio/${id}/${name}`
  const form = new FormData()
  form.set('token', hiddenFields(await listing(), action).token ?? '')
  for (const [field, value] of Object.entries(fields)) form.set(field, value)
  if (file) form.set('file', new Blob([file]), 'picture.png')
  return olga.send(action, form)
}

const item = async () => (await t.call('GET', `/explore/${id}`)).body

test('a maker uploads a cover and returns to captured ones', async () => {
  expect((await send('cover', {}, image)).status).toBe(303)
  expect(await listing()).toContain('The cover is live.')
  expect(await item()).toMatchObject({ item: { cover: { color: expect.any(String) } } })
  expect(await listing()).toContain('You uploaded this cover.')
  await send('cover', { reset: 'yes' })
  expect(await item()).toMatchObject({ item: { cover: null } })
})

test('a maker uploads and removes screenshots, which the item page shows', async () => {
  expect((await send('screenshot', { position: '1' }, image)).status).toBe(303)
  expect(await listing()).toContain('is live')
  expect(await item()).toMatchObject({ screenshots: [{ position: 1 }] })
  const page = String((await t.request('GET', `/explore/${id}`)).body)
  expect(shownPage(page).allByRole('img', /^Screenshot 1 of /)).toHaveLength(1)
  await send('screenshot', { position: '1', remove: 'yes' })
  expect(await item()).toMatchObject({ screenshots: [] })
})

test('a maker has an icon generated, once for each form', async () => {
  const form = { max: '99', ref: 'abcdefghijkl' }
  expect((await send('icon', form)).status).toBe(303)
  expect(await listing()).toContain('The icon is live.')
  const made = await item()
  expect(made).toMatchObject({ item: { icon: expect.stringContaining(id) } })
  expect((await send('icon', form)).status).toBe(303)
  expect(await item()).toEqual(made)
})

test('a file that is no image, or too large, changes nothing', async () => {
  const before = await t.snapshot()
  const text = new TextEncoder().encode('hello')
  expect((await send('cover', {}, text)).status).toBe(400)
  expect((await send('cover', {})).status).toBe(400)
  expect((await send('icon', {}, text)).status).toBe(400)
  // A price above the confirmed one.
  expect((await send('icon', { max: '-1' })).status).toBe(400)
  expect((await send('screenshot', { position: '9' }, image)).status).toBe(400)
  expect((await send('cover', {}, new Uint8Array(7 * 1_048_576))).status).toBe(413)
  expect(await t.snapshot()).toEqual(before)
})
