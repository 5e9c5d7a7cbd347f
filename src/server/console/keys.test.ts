import { afterAll, expect, test } from 'bun:test'

import { hour } from '../../kernel/time.ts'
import { listAudit } from '../../people/audit/audit.ts'
import {
  alertText,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { type Shown, shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestResponse } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer()
const olga = await signInOperator(t)
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const list = '/console/keys'
/** Submits a form of a page with its hidden fields, of which `act` chooses the form. */
async function submit(path: string, values: Record<string, string>): Promise<TestResponse> {
  const { token = '' } = hiddenFields(await olga.read(path), path)
  return olga.send(path, { token, ...values })
}
const secretIn = ({ body }: TestResponse): string =>
  /gk_[A-Za-z0-9]{40}/.exec(String(body))?.[0] ?? ''
const chatWith = (key: string) =>
  t.request('POST', '/v1/chat/completions', {
    key,
    body: { model: 'demo/chat', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 20 },
  })
const decisionOf = async (did: string) =>
  (await listAudit(t.ctx, 50, gus.creditId)).find((entry) => entry.did === did)

test('creates, lists, changes, rotates and revokes the keys of an account', async () => {
  const account = `${list}/${gus.creditId}`
  const made = await submit(account, {
    act: 'key',
    ref: 'first-key-12',
    name: 'ci <b>',
    monthly_cap: '500',
    models: 'demo/*',
    requests_per_minute: '60',
    note: 'For the nightly build.',
    tags: 'night',
  })
  const key = secretIn(made)
  const id = key.slice(0, 11)
  expect((await chatWith(key)).status).toBe(200)
  expect(await decisionOf('keys add')).toMatchObject({ by: 'olga', why: id })
  // A reload of the page that shows the key creates no second one.
  expect((await submit(account, { act: 'key', ref: 'first-key-12' })).status).toBe(400)

  for (const q of ['ci <b>', 'NIGHT', 'nightly build', id, gus.creditId]) {
    const page = await olga.read(`${list}?q=${encodeURIComponent(q)}`)
    expect([q, shownPage(page).hrefs.includes(`${account}/${id}`)]).toEqual([q, true])
    expect(page).not.toContain('ci <b>')
    expect(page).not.toContain(key)
  }
  const page = await olga.show(list)
  expect(page.text).toMatch(/month ?0\.\d+/)
  expect(page.text).toContain('60 requests/min')
  const days = page.allByText(/^4 May 2026/).map((time) => time.attribute('datetime'))
  expect(days).toContain('2026-05-04')
  expect(await olga.read(`${list}?q=nothing-like-it`)).toContain('No API keys found')

  const edited = { act: 'save', name: 'ci', daily_cap: '0', models: 'demo/*', tags: 'night' }
  expect((await submit(`${account}/${id}`, edited)).status).toBe(303)
  expect((await chatWith(key)).code).toBe('daily_cap')
  expect((await submit(`${account}/${id}`, { ...edited, daily_cap: '' })).status).toBe(303)

  const rotated = await submit(`${account}/${id}`, { act: 'rotate', overlap_hours: '2' })
  const next = secretIn(rotated)
  expect([(await chatWith(key)).status, (await chatWith(next)).status]).toEqual([200, 200])
  t.clock.advance(3 * hour)
  expect([(await chatWith(key)).code, (await chatWith(next)).status]).toEqual(['key_expired', 200])
  expect(await olga.read(account)).toContain('expired')
  expect((await decisionOf('keys rotate'))?.why).toBe(`${id} by ${next.slice(0, 11)}`)

  const path = `${account}/${next.slice(0, 11)}`
  // Revoking asks first, with a red button.
  const question = (await olga.show(path)).byRole('dialog', /^Revoke/)
  expect(question.byRole('button', 'Revoke key').attribute('class')).toBe('button danger')
  const revoked = await submit(path, { act: 'revoke' })
  expect(revoked.headers.get('location')).toBe(`${account}?done=revoke`)
  expect((await chatWith(next)).status).toBe(401)
  expect((await olga.show(account)).text).toMatch(/key revoked.*key created/)
  expect((await olga.show('/console/audit')).hrefs).toContain(account)
  expect((await olga.open(path)).status).toBe(404)
})

test('creates, changes and deletes projects, whose budgets their keys share', async () => {
  const account = `${list}/${gus.creditId}`
  const made = await submit(account, { act: 'project', name: 'Team A', daily_cap: '0' })
  expect(made.headers.get('location')).toBe(`${account}?done=project`)
  const projects = (await olga.show(account)).byRole('link', 'Team A').attribute('href')
  const id = projects?.split('/').at(-1) ?? ''
  const key = secretIn(await submit(account, { act: 'key', name: 'a', project: id }))
  expect((await chatWith(key)).code).toBe('budget_exceeded')
  const project = `${account}/projects/${id}`
  expect(await olga.read(project)).toContain(key.slice(0, 11))
  await submit(project, { act: 'project', name: 'Team B', daily_cap: '50' })
  expect((await chatWith(key)).status).toBe(200)
  expect(shownPage(await olga.read(account)).text).toMatch(/Team B.*\b0\.\d+.*\b50\b/)
  expect((await submit(account, { act: 'project', name: 'Team B' })).status).toBe(400)
  expect((await submit(project, { act: 'remove' })).status).toBe(303)
  expect((await chatWith(key)).status).toBe(200)
  expect((await olga.open(project)).status).toBe(404)
  expect((await decisionOf('projects remove'))?.why).toBe(id)
})

test('manages the keys of wallets and agents', async () => {
  await signUp(t, 'mia', '198.51.100.9')
  const ann = await t.agent('ann')
  const wallet = secretIn(await submit(`${list}/mia`, { act: 'key', name: 'hers' }))
  const hrefsOf = async (path: string) => (await olga.show(path)).hrefs
  expect(await hrefsOf(`${list}?q=mia`)).toContain(`${list}/mia/${wallet.slice(0, 11)}`)
  const agent = `${list}/%40ann/${ann.key.slice(0, 11)}`
  expect(await hrefsOf(`${list}?q=@ann`)).toContain(agent)
  // An agent has no projects, and its keys have a daily cap only.
  const capsIn = ({ fields }: Shown) => [fields['daily_cap'], fields['weekly_cap']]
  expect(capsIn(await olga.show(agent))).toEqual(['', undefined])
  expect((await submit(agent, { act: 'save', name: 'main', daily_cap: '7' })).status).toBe(303)
  expect(capsIn(await olga.show(agent))).toEqual(['7', undefined])
})

test('rejects wrong fields and other people, and changes nothing', async () => {
  const mine = secretIn(await submit(`${list}/${gus.creditId}`, { act: 'key', name: 'kept' }))
  const [account, id] = [`${list}/${gus.creditId}`, mine.slice(0, 11)]
  const cy = await signUp(t, 'cyrus', '198.51.100.7')
  const before = await t.snapshot()
  for (const [path, values] of [
    [account, { act: 'key', name: 'x'.repeat(81) }],
    [account, { act: 'key', project: 'AAAAAAAAAAAA' }],
    [account, { act: 'project', name: ' ' }],
    [account, { act: 'project', name: 'a', daily_cap: '-1' }],
    [`${account}/${id}`, { act: 'save', expires_at: '2020-01-01T00:00' }],
    [`${account}/${id}`, { act: 'rotate', overlap_hours: '721' }],
    [`${account}/${id}`, { act: 'rotate', overlap_hours: '' }],
    [`${account}/${id}`, { act: 'nothing' }],
  ] as const) {
    const response = await submit(path, values)
    expect([values, [400, 404].includes(response.status)]).toEqual([values, true])
    if (response.status === 400) expect(alertText(response)).not.toBe('')
  }
  for (const path of [account, `${account}/${id}`, `${account}/projects/AAAAAAAAAAAA`]) {
    const token = hiddenFields(await cy.read('/wallet'), '/wallet/keys').token ?? ''
    expect((await cy.open(path)).status).toBe(404)
    expect((await cy.send(path, { token, act: 'revoke' })).status).toBe(404)
    expect((await olga.send(path, { token, act: 'revoke' })).status).not.toBe(303)
  }
  for (const path of [`${list}/nobody`, `${account}/gk_AAAAAAAA`, `${list}/@nobody/${id}`]) {
    expect((await olga.open(path)).status).toBe(404)
  }
  expect((await olga.open(`${list}?cursor=odd`)).status).toBe(400)
  expect(await t.snapshot()).toEqual(before)
})
