import { afterAll, expect, test } from 'bun:test'

import { closeWithoutErrors } from '../testing/fixtures/closed-servers.ts'
import { alertText, claimAgent, hiddenFields, signUp } from '../testing/fixtures/form-browser.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const h = await startTestServer()
const bea = await signUp(h, 'bea')
await claimAgent(bea, await h.agent('ann'))
afterAll(() => closeWithoutErrors(h))

test('does not create a second key on reload', async () => {
  for (const [path, action, kind] of [
    ['/account', '/account/keys', 'pk'],
    ['/wallet', '/wallet/keys', 'gk'],
    ['/agents/ann', '/agents/ann/keys', 'ak'],
  ] as const) {
    const look = async () => {
      const page = await bea.read(path)
      // The form that creates a key is below the revoke forms.
      const form = page.slice(page.lastIndexOf('<form', page.lastIndexOf(`action="${action}"`)))
      return { keys: page.split('name="revoke"').length, form: hiddenFields(form, action) }
    }
    const { keys, form } = await look()
    const made = await bea.send(action, { ...form, name: 'script' })
    expect(String(made.body)).toMatch(new RegExp(`<code>${kind}_[A-Za-z0-9]{40}<`))
    const again = await bea.send(action, { ...form, name: 'script' })
    expect([again.status, alertText(again)]).toEqual([
      400,
      'This key was already created and is shown only once. If you lost it, create a new one.',
    ])
    const next = await look()
    expect(next.keys).toBe(keys + 1)
    expect((await bea.send(action, { ...next.form, name: 'other' })).status).toBe(200)
    expect((await look()).keys).toBe(keys + 2)
  }
})
