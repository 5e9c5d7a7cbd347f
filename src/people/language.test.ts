import { afterAll, expect, test } from 'bun:test'

import { expectError } from '../testing/expect-error.ts'
import { FormBrowser, origin, signUp } from '../testing/fixtures/form-browser.ts'
import { createTestPerson, getPerson, password } from '../testing/fixtures/people.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
afterAll(() => t.close())

const languageOf = async (name: string) => (await getPerson(t, name)).language
const pageLanguage = (page: string) => /<html lang="(\w+)/.exec(page)?.[1]

test('keeps the language of a person for all browsers in which they are signed in', async () => {
  const first = await signUp(t, 'olga')
  const referer = { referer: `${origin}/account` }
  await first.read('/account')
  expect(pageLanguage(await first.read('/account'))).toBe('en')
  const linked = new FormBrowser(t, undefined, { ...referer, host: 'localhost:3000' })
  linked.set('berth', first.cookie() ?? '')
  const chosen = await linked.open('/language/de')
  expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/account'])
  expect(await languageOf('olga')).toBe('de')
  expect(pageLanguage(await first.read('/account'))).toBe('de')

  // Another browser, which prefers Spanish and has a choice of its own.
  const second = new FormBrowser(t, undefined, { 'accept-language': 'es' })
  second.set('language', 'zh')
  expect(pageLanguage(await second.read('/'))).toBe('zh')
  await second.fill('/sign-in', '/sign-in', { name: 'olga', password })
  expect(pageLanguage(await second.read('/'))).toBe('de')
  expect(pageLanguage(await second.read('/explore'))).toBe('de')
})

test('changes the language on the account page, and returns to that of the browser', async () => {
  const browser = await signUp(t, 'ben-reads')
  const saved = await browser.fill('/account', '/account/language', { language: 'ar' })
  expect([saved.status, await languageOf('ben-reads')]).toEqual([303, 'ar'])
  expect(await browser.read('/account')).toContain('<html lang="ar" dir="rtl">')
  expect(browser.cookie('language')).toBe('ar')
  await browser.fill('/account', '/account/language', { language: '' })
  expect(await languageOf('ben-reads')).toBeNull()
  expect(browser.cookie('language')).toBeUndefined()
  expect(pageLanguage(await browser.read('/account'))).toBe('en')
  const wrong = await browser.fill('/account', '/account/language', { language: 'fr' })
  expect([wrong.status, await languageOf('ben-reads')]).toEqual([400, null])
})

test('sets the language by the API, with a key or a session of the person', async () => {
  const { call } = await createTestPerson(t, 'cy-speaks')
  const { status, body } = await call('PUT', '/people/me/language', { language: 'es' })
  expect([status, body]).toEqual([200, { language: 'es' }])
  expect((await call('GET', '/people/me')).body).toMatchObject({ language: 'es' })
  for (const wrong of [{}, { language: 'fr' }, { language: 1 }, { language: 'de', more: 1 }])
    await expectError(t, 400, 'bad_request', () => call('PUT', '/people/me/language', wrong))
  const own = { body: { language: 'de' } }
  await expectError(t, 401, 'no_key', () => t.call('PUT', '/people/me/language', own))
  const ann = await t.agent('ann-speaks')
  await expectError(t, 403, 'wrong_key_kind', () =>
    ann.call('PUT', '/people/me/language', own.body),
  )
  expect(await languageOf('cy-speaks')).toBe('es')
})

test('changes no account from a link of another site', async () => {
  const browser = await signUp(t, 'dora-reads')
  await browser.open('/language/de')
  const elsewhere = new FormBrowser(t, undefined, { referer: 'https://evil.example/x' })
  elsewhere.set('berth', browser.cookie() ?? '')
  await elsewhere.open('/language/de')
  expect(await languageOf('dora-reads')).toBeNull()
})
