import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'

import { recordOf } from '../../../kernel/schema.ts'
import { systemClock } from '../../../kernel/time.ts'
import { startChain, type TestWallet } from '../../../testing/fixtures/chain.ts'
import {
  type PaidServer,
  type Payload,
  type SignedTerms,
  signPayment,
  startPaidServer,
} from '../../../testing/fixtures/payments.ts'
import type { TestAgent } from '../../../testing/fixtures/test-server.ts'
import { doctor } from '../../ledger/doctor.ts'

let t: PaidServer
let ann: TestAgent
let wallet: TestWallet
const units = 50_000n
const now = () => Math.floor(systemClock.now() / 1_000)

const chain = await startChain()
afterAll(() => chain.stop())
beforeEach(async () => {
  t = await startPaidServer(chain)
  ann = await t.agent('ann')
  wallet = await chain.createWallet(units)
})
afterEach(async () => {
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
})

const topUp = (agent: TestAgent, headers: Record<string, string>) =>
  agent.call('POST', '/topup', { credits: 50 }, headers)
const sign = (terms: Partial<SignedTerms> = {}) =>
  signPayment(wallet, { payTo: t.payee.address, units, ...terms })
const creditsOf = async (agent: TestAgent) =>
  recordOf((await agent.call('GET', '/me')).body)['credits']

/** Sends a payment that must be rejected, and checks that nothing moved. */
async function expectRejected(
  headers: Record<string, string>,
  code: string,
  why = '',
): Promise<void> {
  const kept = await t.snapshot()
  const response = await topUp(ann, headers)
  expect([why, response.code]).toEqual([why, code])
  expect(response.text('error')).toContain(why)
  // Nothing was charged, so the client may pay the next offer.
  expect(response.headers.has('payment-required')).toBe(response.status === 402)
  expect(await t.snapshot()).toEqual(kept)
  expect(await chain.balanceOf(wallet.address)).toBe(units)
}

test('unreadable payments are rejected', async () => {
  const [v1, v2] = ['x-payment', 'payment-signature']
  for (const text of ['garbage', '%%%', '', btoa('{'), btoa('null'), btoa('[]'), btoa('{}')]) {
    await expectRejected({ [v1]: text }, 'bad_payment')
    await expectRejected({ [v2]: text }, 'bad_payment')
  }
  await expectRejected({ [v1]: 'A'.repeat(20_000) }, 'bad_payment', '16384 characters')
  await expectRejected({ [v1]: btoa('{"x402Version":3}') }, 'bad_payment', '1 or 2')
  const changes: ((authorization: Record<string, string>) => void)[] = [
    (one) => (one['value'] = '-1'),
    (one) => (one['value'] = '5e4'),
    (one) => (one['value'] = '050000'),
    (one) => (one['value'] = '1.5'),
    (one) => (one['value'] = `50000.${'0'.repeat(29)}1`),
    (one) => (one['nonce'] = '0x1'),
    (one) => (one['validBefore'] = 'never'),
    (one) => delete one['from'],
  ]
  for (const change of changes) {
    for (const version of [1, 2] as const) {
      const tamper = (payload: Payload) => {
        change(payload.payload.authorization)
        return payload
      }
      await expectRejected(await sign({ version, tamper }), 'bad_payment', 'is invalid')
    }
  }
})

test('payments for other terms are rejected', async () => {
  const other = await chain.createWallet(0n)
  const code = 'payment_rejected'
  await expectRejected(await sign({ payTo: other.address }), code, 'it pays 0x')
  await expectRejected(await sign({ version: 2, payTo: other.address }), code, 'its payTo is not')
  await expectRejected(await sign({ units: 999n }), code, 'a payment has 1000 to')
  await expectRejected(await sign({ units: 10n ** 9n }), code, 'a payment has 1000 to 100000000')
  const fields = { scheme: 'upto', network: 'base' }
  for (const [field, value] of Object.entries(fields)) {
    const tamper = (payload: Payload) => ({ ...payload, [field]: value })
    await expectRejected(await sign({ tamper }), code, `its ${field} is not`)
  }
  const accepted = {
    ...fields,
    network: 'eip155:8453',
    asset: other.address,
    amount: '1000000',
    payTo: other.address,
  }
  for (const [field, value] of Object.entries(accepted)) {
    const tamper = (payload: Payload) => ({
      ...payload,
      accepted: { ...payload.accepted, [field]: value },
    })
    await expectRejected(await sign({ version: 2, tamper }), code, `its ${field} is not`)
  }
})

test('payments outside of their time are rejected', async () => {
  const code = 'payment_rejected'
  await expectRejected(await sign({ validBefore: now() - 1 }), code, 'expired')
  await expectRejected(await sign({ validBefore: now() + 5 }), code, 'within 6 seconds')
  await expectRejected(await sign({ validAfter: now() + 60 }), code, 'not valid yet')
  await expectRejected(await sign({ validBefore: now() + 7_200 }), code, 'more than an hour')
})

test('payments that were changed after signing, or cannot be paid, are rejected', async () => {
  const other = await chain.createWallet(0n)
  const change = (name: string, value: string) => (payload: Payload) => {
    payload.payload.authorization[name] = value
    return payload
  }
  const signature = 'invalid_exact_evm_signature'
  const code = 'payment_rejected'
  const redirected = await sign({ payTo: other.address, tamper: change('to', t.payee.address) })
  await expectRejected(redirected, code, signature)
  await expectRejected(await sign({ tamper: change('value', '40000') }), code, signature)
  await expectRejected(
    await sign({ tamper: change('from', other.address) }),
    code,
    'the wallet has 0',
  )
  await expectRejected(await sign({ units: units + 1n }), code, 'the wallet has 50000 units')
  const flip = (payload: Payload) => {
    const { signature: text } = payload.payload
    payload.payload.signature = `${text.slice(0, 10)}${text[10] === '0' ? '1' : '0'}${text.slice(11)}`
    return payload
  }
  await expectRejected(await sign({ tamper: flip }), code, signature)
  await expectRejected(await sign({ tamper: raise }), code)
})

/** Replaces s by n - s, which is a valid signature of the same message for a careless verifier. */
function raise(payload: Payload): Payload {
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { signature } = payload.payload
  const s = (n - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  const v = signature.endsWith('1b') ? '1c' : '1b'
  payload.payload.signature = `${signature.slice(0, 66)}${s}${v}`
  return payload
}

test('a payment is credited once: to the account that sent it first', async () => {
  const bob = await t.agent('bob')
  const nonce = `0x${'aB'.repeat(32)}` as const
  const payment = await sign({ nonce })
  const first = await topUp(ann, payment)
  expect([first.status, await creditsOf(ann)]).toEqual([200, 450])
  const again = await topUp(ann, payment)
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(again.headers.get('x-payment-response')).toBe(first.headers.get('x-payment-response'))
  // Hexadecimal has two letter cases, and version 2 has the same authorization.
  const upper = (payload: Payload) => {
    const { authorization } = payload.payload
    authorization['nonce'] = nonce.toLowerCase()
    authorization['from'] = (authorization['from'] ?? '').toLowerCase()
    return payload
  }
  for (const version of [1, 2] as const) {
    const other = await topUp(ann, await sign({ nonce, version, tamper: upper }))
    expect([other.status, other.body]).toMatchObject([
      200,
      { payment: recordOf(first.body)['payment'] },
    ])
  }
  expect((await topUp(bob, payment)).code).toBe('payment_used')
  expect([await creditsOf(ann), await creditsOf(bob)]).toEqual([450, 400])
  expect(await chain.balanceOf(t.payee.address)).toBe(units)
})

test('20 copies of a payment at once are credited once', async () => {
  const payment = await sign()
  const responses = await Promise.all(Array.from({ length: 20 }, () => topUp(ann, payment)))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await creditsOf(ann)).toBe(450)
  expect(await chain.balanceOf(t.payee.address)).toBe(units)
  expect(await chain.client.getTransactionCount({ address: t.gasWallet.address })).toBe(1)
})
