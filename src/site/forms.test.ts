import { expect, test } from 'bun:test'

import { claimAgent, signUp } from '../testing/fixtures/form-browser.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

test('asks for confirmation of every irreversible action without JavaScript', async () => {
  const h = await startTestServer()
  const ann = await h.agent('ann')
  const id = await ann.publish({ store: true })
  await ann.call('PUT', `/apps/${id}/assets/lamp.json`, new Uint8Array([0x31]))
  const olga = await signUp(h, 'olga')
  await claimAgent(olga, ann)
  for (const at of ['/account', '/wallet']) await olga.fill(at, `${at}/keys`, { name: 'laptop' })
  const body = (path: string): Promise<string> => olga.read(path)
  const whole = await Promise.all(
    ['/account', '/wallet', '/agents/ann', `/studio/${id}/assets`, `/studio/${id}/listing`].map(
      body,
    ),
  )
  const form = /<form[^]*?<\/form>/g
  const ends = /name="(?:revoke|remove)"|action="[^"]*\/(?:remove|release|leave|delete)"/
  const forms = whole.flatMap((page) => page.match(form) ?? []).filter((one) => ends.test(one))
  expect(forms).toHaveLength(7)
  for (const one of forms) {
    const [, outside = '', confirmation = ''] =
      /^([^]*?)(<div\s+class="confirm-dialog"[^]*)$/.exec(one) ?? []
    const [, opens] = /type="button"[^>]*popovertarget="([^"]+)"/.exec(outside) ?? []
    expect([outside.match(/<button/g)?.length, confirmation]).toEqual([
      1,
      expect.stringMatching(new RegExp(`id="${opens}"\\s+popover`)),
    ])
  }
  await h.close()
})
