import type { Page } from 'playwright-core'

/**
 * Adds a virtual passkey device to a Chromium page. It confirms every prompt; with `unknown`, user
 * verification fails.
 */
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
