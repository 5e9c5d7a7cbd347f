import type { Page } from 'playwright-core'

/** A phone in a page of chromium: its holder, or somebody else, touches it whenever it asks. */
export async function addPasskeyDevice(
  page: Page,
  holder: 'known' | 'unknown' = 'known',
): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: holder === 'known',
      automaticPresenceSimulation: true,
    },
  })
}
