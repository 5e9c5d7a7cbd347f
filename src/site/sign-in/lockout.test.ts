import { afterEach, describe, expect, test } from 'bun:test'

import { listAudit } from '../../people/audit/audit.ts'
import { commands } from '../../server/operator/commands.ts'
import {
  FormBrowser,
  hiddenFields,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
afterEach(() => t.close())

/** These tests hash many passwords. */
const hashesMs = 60_000

const signIn = (browser: FormBrowser, secret = password, name = 'olga') =>
  browser.fill('/sign-in', '/sign-in', { name, password: secret })

/** Sends wrong passwords from an address, all at once. Returns the statuses. */
async function attack(address: string, tries: number, name = 'olga'): Promise<number[]> {
  const browser = new FormBrowser(t, address)
  const fields = hiddenFields(await browser.read('/sign-in'), '/sign-in')
  const guess = (at: number) =>
    browser.send('/sign-in', { ...fields, name, password: `wrong password ${at}` })
  const all = await Promise.all(Array.from({ length: tries }, (_, at) => guess(at)))
  return all.map(({ status }) => status)
}

const count = (statuses: number[], status: number) =>
  statuses.filter((one) => one === status).length

describe('sign_in_locked', () => {
  test(
    'never locks the owner out, from a fresh address or a known device',
    async () => {
      t = await startTestServer()
      const owner = await signUp(t, 'olga', '203.0.113.1')
      const known = owner.cookie('berth_devices') ?? ''
      expect(known).toMatch(/^[\w-]{55}$/)
      let wrong = 0
      for (let net = 0; net < 40; net += 1) {
        wrong += count(await attack(`198.18.${net}.7`, 12), 401)
      }
      // The first ten networks have ten tries each, all others two.
      expect(wrong).toBe(100 + 30 * 2)
      expect((await signIn(new FormBrowser(t, '198.51.100.1'))).status).toBe(303)
      // The network of the owner is part of the attack, and only the known device gets through.
      await attack('203.0.113.66', 12)
      expect((await signIn(new FormBrowser(t, '203.0.113.2'))).status).toBe(429)
      const device = new FormBrowser(t, '203.0.113.2')
      device.set('berth_devices', known)
      expect((await signIn(device)).status).toBe(303)
    },
    hashesMs,
  )

  test(
    'counts wrong passwords of a /24 and a /56 together',
    async () => {
      t = await startTestServer()
      await signUp(t, 'olga')
      expect(count(await attack('198.51.100.1', 10), 401)).toBe(10)
      expect((await signIn(new FormBrowser(t, '198.51.100.200'))).status).toBe(429)
      expect((await signIn(new FormBrowser(t, '198.51.101.1'))).status).toBe(303)
      expect(count(await attack('2001:db8:1:100::1', 10), 401)).toBe(10)
      expect((await signIn(new FormBrowser(t, '2001:db8:1:1ff::1'))).status).toBe(429)
      expect((await signIn(new FormBrowser(t, '2001:db8:1:200::1'))).status).toBe(303)
    },
    hashesMs,
  )

  test(
    'a device has a budget of its own and counts for its own person only',
    async () => {
      t = await startTestServer()
      const owner = await signUp(t, 'olga', '203.0.113.1')
      await signUp(t, 'cyrus', '203.0.113.2')
      const known = owner.cookie('berth_devices') ?? ''
      const device = new FormBrowser(t, '192.0.2.77')
      device.set('berth_devices', known)
      const statuses: number[] = []
      for (let at = 0; at < 11; at += 1) statuses.push((await signIn(device, `wrong ${at}`)).status)
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
      // Its wrong passwords count for no network, and its cookie helps nobody else.
      expect((await signIn(new FormBrowser(t, '192.0.2.78'))).status).toBe(303)
      await attack('192.0.2.77', 10, 'cyrus')
      expect((await signIn(device, password, 'cyrus')).status).toBe(429)
      for (const forged of [
        `${'A'.repeat(55)}`,
        known.slice(0, -1) + (known.endsWith('A') ? 'B' : 'A'),
      ]) {
        const thief = new FormBrowser(t, '192.0.2.77')
        thief.set('berth_devices', forged)
        await attack('192.0.2.77', 10)
        expect((await signIn(thief)).status).toBe(429)
      }
    },
    hashesMs,
  )

  test('a new password makes device cookies invalid, and a browser keeps five people', async () => {
    t = await startTestServer()
    const owner = await signUp(t, 'olga')
    const known = owner.cookie('berth_devices') ?? ''
    const fields = { password, wanted: 'another password' }
    expect((await owner.fill('/account', '/account/password', fields)).status).toBe(303)
    await attack('203.0.113.50', 10)
    const device = new FormBrowser(t)
    device.set('berth_devices', known)
    expect((await signIn(device, 'another password')).status).toBe(429)
    const shared = new FormBrowser(t, '192.0.2.9')
    for (const name of ['ann', 'bea', 'cyrus', 'dora', 'emil', 'finn'].map((one) => `${one}-x`)) {
      await signUp(t, name, '192.0.2.10')
      expect((await signIn(shared, password, name)).status).toBe(303)
      await shared.fill('/account', '/sign-out', {})
    }
    expect(shared.cookie('berth_devices')?.split('.')).toHaveLength(5)
  })

  test('recovery codes get through, also the one of berth recover', async () => {
    t = await startTestServer()
    expect((await commands['recover']?.(t.ctx, []))?.ok).toBe(false)
    await signInOperator(t)
    const printed = (await commands['recover']?.(t.ctx, []))?.text ?? ''
    const entry = { by: 'command line', did: 'recover', item: 'olga' }
    expect(await listAudit(t.ctx, 1)).toMatchObject([entry])
    const [code = ''] = /[0-9A-Z]{4}(-[0-9A-Z]{4}){2}/.exec(printed) ?? []
    await attack('203.0.113.50', 12)
    const browser = new FormBrowser(t)
    const recover = (typed: string, newPassword = 'a new password') =>
      browser.fill('/recover', '/recover', { name: 'olga', code: typed, password: newPassword })
    for (let at = 0; at < 60; at += 1) expect((await recover('AAAA-AAAA-AAAA')).status).toBe(401)
    expect((await recover('AAAA-AAAA-AAAA')).status).toBe(429)
    expect((await recover(code)).status).toBe(303)
    expect((await browser.open('/console')).status).toBe(200)
    const late = new FormBrowser(t, '192.0.2.1')
    const values = { name: 'olga', code, password: 'a new password' }
    expect((await late.fill('/recover', '/recover', values)).status).toBe(401)
  })
})
