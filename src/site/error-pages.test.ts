import { afterAll, expect, test } from 'bun:test'

import { takeDown } from '../apps/moderation/moderation.ts'
import {
  claimAgent,
  FormBrowser,
  signInOperator,
  signUp,
} from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const ann = await t.agent('ann')
const olga = await signUp(t, 'olga', '198.51.100.1')
await claimAgent(olga, ann)
const down = await ann.publish({ title: 'Gone', html: '<h1>Gone</h1>', store: true })
await takeDown(t.ctx, down, 'phishing', 'operator')
const nobody = 'A'.repeat(12)
afterAll(() => t.close())

/** Returns the title of an error page and its first button, with the address of that. */
async function firstStep(browser: FormBrowser, path: string) {
  const page = shownPage((await browser.open(path)).body)
  const main = page.byRole('main')
  const [link] = main.allByRole('link')
  return [main.byRole('heading').text, link?.text, link?.attribute('href')]
}

test('the first button is the next step that the text names', async () => {
  const steps: Record<string, [title: string, label: string, href: string]> = {
    '/explore?cursor=odd&kind=game': ['Invalid request', 'First page', '/explore?kind=game'],
    '/wallet/ledger?cursor=odd': ['Invalid request', 'First page', '/wallet/ledger'],
    [`/studio/${nobody}`]: ['App not found', 'Your studio', '/studio'],
    '/agents/nobody': ['Page not found', 'Your agents', '/agents'],
    '/wallet/keys/gk_AAAAAAAA': ['Page not found', 'Wallet', '/wallet'],
    '/catalogue/odd/model': ['Model not found', 'All models', '/catalogue'],
    '/docs/odd': ['Page not found', 'Docs', '/docs'],
    [`/runs/${nobody}`]: ['Run not found', 'Go to Explore', '/explore'],
    '/nowhere': ['Page not found', 'Go to Explore', '/explore'],
  }
  for (const [path, step] of Object.entries(steps)) {
    expect([path, ...(await firstStep(olga, path))]).toEqual([path, ...step])
  }
  const operator = await signInOperator(t, 'root')
  expect(await firstStep(operator, `/console/requests/${nobody}`)).toEqual([
    'Request no longer kept',
    'All requests',
    '/console/requests',
  ])
})

test('only the owner of what was taken down is led to the appeal', async () => {
  const guest = new FormBrowser(t)
  for (const path of [`/report/${down}`, `/explore/${down}`]) {
    const own = await firstStep(olga, path)
    expect(own).toEqual(['Taken down', 'Open in studio and appeal', `/studio/${down}`])
    expect(await firstStep(guest, path)).toEqual(['Taken down', 'Go to Explore', '/explore'])
  }
  expect((await olga.show(`/report/${down}`)).text).toContain('phishing')
  expect((await olga.show(`/studio/${down}`)).names('button')).toContain('Submit appeal')
  const app = await guest.show(`/a/${down}`)
  expect(app.byRole('link', 'Appeal in the studio').attribute('href')).toBe(`/studio/${down}`)
})

test('a wrong claim code is entered again, without a session', async () => {
  const guest = new FormBrowser(t)
  const page = shownPage((await guest.open('/claim/AAAA-AAAA-AAAA')).body)
  expect(page.names('heading')).toContain('Claim code not valid')
  const form = page.form('/claim')
  expect(form.fields).toEqual({ code: 'AAAA-AAAA-AAAA' })
  const code = (await (await t.agent('bea')).call('POST', '/me/claim')).text('claim.code')
  const typed = ` ${code.toLowerCase()} `
  const found = await guest.open(`/claim?code=${encodeURIComponent(typed)}`)
  const location = found.headers.get('location') ?? ''
  expect((await guest.show(location)).names('heading')).toContain('Claim @bea')
})
