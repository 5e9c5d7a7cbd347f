import { afterAll, expect, test } from 'bun:test'

import { closeWithoutErrors } from '../testing/fixtures/closed-servers.ts'
import { alertText, claimAgent, signUp } from '../testing/fixtures/form-browser.ts'
import { shownPage } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer()
const bea = await signUp(t, 'bea')
await claimAgent(bea, await t.agent('ann'))
afterAll(() => closeWithoutErrors(t))

test('does not create a second key on reload', async () => {
  for (const [path, action, kind] of [
    ['/account', '/account/keys', 'pk'],
    ['/wallet', '/wallet/keys', 'gk'],
    ['/agents/ann/keys', '/agents/ann/keys', 'ak'],
  ] as const) {
    const look = async () => {
      const forms = (await bea.show(path)).forms(action)
      const creating = forms.filter((form) => form.names('button').includes('Create API key'))
      return { keys: forms.length - creating.length, form: creating[0]?.hiddenFields ?? {} }
    }
    const { keys, form } = await look()
    const made = await bea.send(action, { ...form, name: 'script' })
    shownPage(made.body).byText(new RegExp(`^${kind}_[A-Za-z0-9]{40}$`))
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
