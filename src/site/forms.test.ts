import { expect, test } from 'bun:test'

import { claimAgent, signUp } from '../testing/fixtures/form-browser.ts'
import type { Shown } from '../testing/fixtures/shown-page.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const isIrreversible = (form: Shown): boolean => {
  const buttons = form.allByRole('button').map((button) => button.attribute('name') ?? '')
  return (
    /\/(?:remove|release|leave|delete)$/.test(form.attribute('action') ?? '') ||
    [...Object.keys(form.fields), ...buttons].some((name) => /^(?:revoke|remove)$/.test(name))
  )
}

test('asks for confirmation of every irreversible action without JavaScript', async () => {
  const t = await startTestServer()
  const ann = await t.agent('ann')
  const id = await ann.publish({ store: true })
  await ann.call('PUT', `/apps/${id}/assets/lamp.json`, new Uint8Array([0x31]))
  const olga = await signUp(t, 'olga')
  await claimAgent(olga, ann)
  for (const at of ['/account', '/wallet']) await olga.fill(at, `${at}/keys`, { name: 'laptop' })
  const forms: Shown[] = []
  for (const path of [
    '/account',
    '/wallet',
    '/agents/ann/keys',
    '/agents/ann/settings',
    `/studio/${id}/assets`,
    `/studio/${id}/listing`,
  ]) {
    forms.push(...(await olga.show(path)).forms().filter(isIrreversible))
  }
  expect(forms).toHaveLength(7)
  for (const form of forms) {
    const dialog = form.byRole('dialog')
    const [opens, ...confirming] = form.allByRole('button')
    expect(dialog.allByRole('button')).toHaveLength(confirming.length)
    expect([opens?.attribute('type'), opens?.attribute('popovertarget')]).toEqual([
      'button',
      dialog.attribute('id'),
    ])
    expect(dialog.attribute('popover')).not.toBeNull()
  }
  await t.close()
})
