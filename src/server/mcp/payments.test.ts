import { afterAll, expect, test } from 'bun:test'

import { recordOf } from '../../kernel/schema.ts'
import { startChain } from '../../testing/fixtures/chain.ts'
import { send } from '../../testing/fixtures/mcp-server.ts'
import { signPayment, startPaidServer } from '../../testing/fixtures/payments.ts'

const chain = await startChain()
const t = await startPaidServer(chain)
afterAll(async () => {
  await t.close()
  await chain.stop()
})

test.each([1, 2] as const)('a tool call pays in _meta, version %i', async (version) => {
  const ann = await t.agent(`ann-${version}`)
  const call = async (meta: Record<string, unknown> = {}) => {
    const params = { name: 'top_up', arguments: { credits: 50, key: ann.key }, _meta: meta }
    return recordOf(recordOf((await send(t, 'tools/call', params)).body)['result'])
  }
  const offer = await call()
  expect(offer).toMatchObject({
    isError: true,
    structuredContent: {
      code: 'payment_required',
      x402Version: 1,
      accepts: [{ maxAmountRequired: '50000', resource: 'http://localhost:3000/api/topup' }],
    },
  })
  const wallet = await chain.createWallet()
  const header = await signPayment(wallet, { payTo: t.payee.address, units: 50_000n, version })
  const payment = JSON.parse(atob(Object.values(header)[0] ?? ''))
  const paid = await call({ 'x402/payment': payment })
  expect(paid).toMatchObject({
    structuredContent: { added: 50, credits: 450 },
    _meta: { 'x402/payment-response': { success: true, payer: wallet.address.toLowerCase() } },
  })
  expect(await call({ 'x402/payment': payment })).toMatchObject({
    structuredContent: { added: 50 },
  })
  expect(recordOf((await ann.call('GET', '/me')).body)['credits']).toBe(450)
  for (const bad of ['garbage', 5, {}, null]) {
    const rejected = await call({ 'x402/payment': bad })
    expect(rejected).toMatchObject({ isError: true, structuredContent: { code: 'bad_payment' } })
  }
})
