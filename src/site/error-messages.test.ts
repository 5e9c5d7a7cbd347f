import { afterAll, expect, test } from 'bun:test'

import { claimAgent, hiddenFields, signInOperator } from '../testing/fixtures/form-browser.ts'
import { fund, getPerson } from '../testing/fixtures/people.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer, type TestResponse } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const id = await ann.publish({ store: true })
await ann.call('PUT', `/apps/${id}/assets/lamp.json`, new Uint8Array([0x31]))
const olga = await signInOperator(t)
await claimAgent(olga, ann)
afterAll(() => t.close())

/** Returns the error of a form, or the message of an error page below its heading. */
function messageOf({ body }: TestResponse): string {
  const page = shownPage(body)
  const [alert] = page.allByRole('alert')
  return (alert ?? page.byRole('main').allByText(/\.$/)[0])?.text ?? ''
}
const isOfApi = (words: string): boolean =>
  /\b(?:GET|POST|PUT|PATCH|DELETE) |[a-z]_[a-z]|"\w+"|Bearer|JSON|cursor/.test(words)

test('explains missing pages without words of the API', async () => {
  const nobody = 'A'.repeat(12)
  for (const path of [
    `/explore/${nobody}`,
    '/explore/@nobody',
    '/explore?cursor=odd',
    '/explore/@ann?cursor=odd',
    `/explore/${id}?reviews=odd`,
    `/report/${nobody}`,
    `/studio/${nobody}`,
    '/agents/nobody',
    '/agents?cursor=odd',
    '/agents/ann/odd',
    '/agents/ann/ledger?cursor=odd',
    '/claim/odd',
    `/studio/${id}/odd`,
    `/studio/${id}/versions?cursor=odd`,
    `/studio/${id}/changes?from=9`,
    `/studio/${id}/changes?to=odd`,
    '/wallet/ledger?cursor=odd',
    '/wallet/history?from=odd',
    '/wallet/history?page=odd',
    '/welcome/odd',
    `/console/apps/${nobody}`,
    '/console/odd',
    '/console/agents/nobody',
    '/console/people/nobody',
    '/console/audit?cursor=odd',
    '/console/backups/odd',
    '/static/odd',
    `/icons/${nobody}.png`,
    '/sign-in/oidc',
    '/odd',
  ]) {
    const page = await olga.open(path)
    expect([path, page.status]).toEqual([path, page.status === 400 ? 400 : 404])
    const message = messageOf(page)
    expect([path, message, isOfApi(message)]).toEqual([path, expect.stringMatching(/\.$/), false])
  }
})

test('explains form errors without words of the API', async () => {
  for (const at of ['/account', '/wallet']) await olga.fill(at, `${at}/keys`, { name: 'laptop' })
  const studio = [`/studio/${id}/assets`, `/studio/${id}/listing`, `/studio/${id}/safety`]
  const tried = new Set<string>()
  for (const path of [
    '/agents',
    '/agents/ann',
    '/account',
    '/wallet',
    '/console/queue',
    ...studio,
  ]) {
    for (const form of (await olga.show(path)).forms()) {
      if (form.attribute('method') !== 'post') continue
      const action = form.attribute('action') ?? ''
      // These actions would succeed and remove what the other forms need.
      if (/release|sign-out|\/delete|rescan/.test(action) || tried.has(action)) continue
      tried.add(action)
      for (const value of ['', '-1', '\u0000', 'odd', '99999999', 'x'.repeat(9_000)]) {
        const typed = Object.fromEntries(Object.keys(form.fields).map((name) => [name, value]))
        const { token = '' } = form.hiddenFields
        const response = await olga.send(action, { ...typed, token })
        if (response.status < 400) continue
        const message = messageOf(response)
        expect([action, message, isOfApi(message)]).toEqual([
          action,
          expect.stringMatching(/\.$/),
          false,
        ])
      }
    }
  }
  expect(tried.size).toBeGreaterThan(9)
})

test('names fields by their labels', async () => {
  const send = async (act: string, values: Record<string, string>): Promise<string> => {
    const action = `/studio/${id}/${act}`
    const hidden = hiddenFields(await olga.read(`/studio/${id}/listing`), action)
    return messageOf(await olga.send(action, { ...hidden, ...values }))
  }
  const shelf = 'other'
  const page = await olga.read(`/studio/${id}/safety`)
  const { token = '' } = hiddenFields(page, `/studio/${id}/rescan`)
  const appeal = await olga.send(`/studio/${id}/appeal`, { token, text: '' })
  expect(messageOf(appeal)).toBe('“Text” needs 1 to 2000 characters.')
  expect([
    await send('details', { shelf, title: '\u0007' }),
    await send('details', { shelf, title: 'Boats', description: '\u0007' }),
  ]).toEqual([
    '“Title” must be one plain line of 1 to 80 characters.',
    '“Description” must be plain text of at most 500 characters.',
  ])
})

test('shows missing fractions of a credit exactly', async () => {
  await fund(t.ctx, await getPerson(t, 'olga'), 1n)
  const path = '/agents/ann'
  const short = await olga.fill(path, `${path}/credits`, { credits: '1000.000001' })
  expect(messageOf(short)).toStartWith(
    'This costs 1,000.000001 credits and your wallet has 1,000. Nothing was transferred.',
  )
})

test('names the page that lists the keys when a key is already revoked', async () => {
  const revoke = async (at: string): Promise<string> =>
    messageOf(await olga.fill(at, `${at}/keys`, { revoke: 'gk_gone' }))
  expect([await revoke('/wallet'), await revoke('/account')]).toEqual([
    'This key was not found. Your wallet page lists your keys.',
    'This key was not found. Your account page lists your keys.',
  ])
})
