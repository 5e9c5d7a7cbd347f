import { expect, test } from 'bun:test'

import { loadConfig } from '../../../kernel/config/load.ts'
import { createOffer, fromUnits, toUnits } from './headers.ts'
import { networkOf } from './network.ts'

const payTo = '0x00000000000000000000000000000000000000aA'
const on = { X402_PAY_TO: payTo, X402_GAS_KEY: `0x${'1'.repeat(64)}` }
const offerOn = (settings: Record<string, string>) => {
  const network = networkOf(loadConfig({ ...on, ...settings }, {}))
  return createOffer({ network, payTo, amount: 1_000n, resource: 'https://berth.test/api/topup' })
}

/** Returns every value anywhere in a JSON value. */
const valuesIn = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : [value]

test('official clients accept every offer', () => {
  for (const X402_NETWORK of ['base', 'base-sepolia']) {
    const { fields, header } = offerOn({ X402_NETWORK })
    const second: unknown = JSON.parse(atob(header))
    expect(fields).toMatchObject({
      x402Version: 1,
      accepts: [
        {
          network: X402_NETWORK,
          maxAmountRequired: '1000',
          resource: 'https://berth.test/api/topup',
          description: expect.stringMatching(/./),
          mimeType: 'application/json',
          maxTimeoutSeconds: expect.any(Number),
          extra: { name: X402_NETWORK === 'base' ? 'USD Coin' : 'USDC', version: '2' },
        },
      ],
    })
    expect(second).toMatchObject({ x402Version: 2, accepts: [{ amount: '1000' }] })
    expect(valuesIn([fields, second])).not.toContain(null)
    expect(JSON.stringify(fields)).not.toContain('outputSchema')
  }
})

test('a chain without a name in version 1 is offered in version 2 alone', () => {
  const settings = {
    X402_NETWORK: 'eip155:42161',
    X402_ASSET: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    X402_RPC_URLS: 'https://arb1.example.com,https://arb2.example.com/key',
  }
  const { fields, header } = offerOn(settings)
  const offer = { network: 'eip155:42161', asset: settings.X402_ASSET, amount: '1000', payTo }
  expect(fields).toMatchObject({ x402Version: 2, accepts: [offer] })
  expect(JSON.parse(atob(header))).toMatchObject({ x402Version: 2, accepts: [offer] })
})

test('amounts are rounded up to units of USDC', () => {
  expect([toUnits(1n), toUnits(1_000n), toUnits(1_001n)]).toEqual([1n, 1n, 2n])
  expect(String(fromUnits(5n))).toBe('5000')
})

test('settings that do not fit together are refused at the start', () => {
  for (const [settings, text] of [
    [{ X402_PAY_TO: payTo }, 'X402_GAS_KEY or FACILITATOR_URL'],
    [{ ...on, FACILITATOR_URL: 'https://x402.org/facilitator' }, 'Set only one of'],
    [{ ...on, X402_NETWORK: 'eip155:42161' }, 'needs X402_ASSET and X402_RPC_URLS'],
    [{ ...on, X402_ASSET: payTo }, 'X402_ASSET is for other chains'],
    [{ ...on, X402_NETWORK: 'solana' }, 'X402_NETWORK'],
    [{ ...on, X402_PAY_TO: '0x12' }, 'X402_PAY_TO'],
    [{ ...on, X402_GAS_KEY: '0x12' }, 'X402_GAS_KEY'],
    [{ ...on, X402_RPC_URLS: 'ftp://x' }, 'X402_RPC_URLS'],
    [{ ...on, X402_CONFIRMATIONS: '0' }, 'X402_CONFIRMATIONS'],
  ] as const) {
    expect(() => loadConfig(settings, {})).toThrow(text)
  }
})
