import { expect, test } from 'bun:test'

import { IdentityProvider } from '../../testing/fakes/identity-provider.ts'
import { FormBrowser } from '../../testing/fixtures/form-browser.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

test('provider sign-in is unavailable without settings and behind a proxy', async () => {
  const id = new IdentityProvider({})
  const proxy = { PERSON_HEADER: 'Remote-User', TRUSTED_PROXIES: '10.0.0.1' }
  const servers = [await startTestServer(), await startTestServer({ ...id.settings, ...proxy })]
  try {
    for (const server of servers) {
      const page = await new FormBrowser(server).open('/sign-in')
      expect(String(page.body)).not.toContain('/sign-in/oidc')
      for (const path of ['/sign-in/oidc', '/sign-in/oidc/back?state=x&code=y']) {
        expect((await new FormBrowser(server).open(path)).status).toBe(404)
      }
    }
  } finally {
    for (const server of servers) await server.close()
    await id.close()
  }
})
