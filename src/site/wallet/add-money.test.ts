import { afterEach, beforeEach, expect, test } from 'bun:test'

import { coins, lateMs } from '../../money/payments/coins/method.ts'
import { watchNetwork } from '../../money/payments/coins/watch.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { commands } from '../../server/operator/commands.ts'
import { type EvmChain, startEvmChain } from '../../testing/fixtures/evm-chain.ts'
import {
  alertText,
  type FormBrowser,
  signInOperator,
  signUp,
} from '../../testing/fixtures/form-browser.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { fixedRates, testXpub } from '../../testing/fixtures/topups.ts'

let chain: EvmChain
let t: TestServer
let olga: FormBrowser
let cy: FormBrowser
const place = '/wallet/add'
const network = 'eip155:1'

beforeEach(async () => {
  chain = await startEvmChain()
  await chain.mine(20)
  t = await startTestServer({
    TOPUP_RATES: fixedRates,
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_EVM_CONFIRMATIONS: '2',
  })
  olga = await signInOperator(t)
  cy = await signUp(t, 'cyrus')
  await watch()
})
afterEach(async () => {
  await t.close()
  await chain.stop()
})

async function watch(): Promise<void> {
  t.clock.advance(10_000)
  await watchNetwork(t.ctx, network)
}

/** Creates an invoice through the form and returns its page and its address. */
async function pay(method: string, amount: string) {
  const made = await cy.fill(place, place, { method, amount })
  const path = made.headers.get('location') ?? ''
  const page = await cy.show(path)
  return { path, page, address: page.byText(/^0x[0-9a-fA-F]{40}$/).text }
}

test('a person creates an invoice, pays it, and sees each state after a reload', async () => {
  const { path, page, address } = await pay('usdt', '20')
  expect(page.text).toContain('Waiting for payment')
  expect(page.byRole('link', 'Open in a wallet').attribute('href')).toStartWith('ethereum:')
  // The QR code in the link is a drawing without a text.
  expect(await cy.read(path)).toMatch(/<svg [^>]*viewBox="0 0 \d+ \d+"/)
  expect(page.text).toContain('Send 20 USDT')
  await chain.sendUsdt([address, 20_000_000n])
  await chain.mine(1)
  await watch()
  const seen = await cy.read(path)
  expect(seen).toContain('waiting for confirmations')
  expect(seen).toContain('1 of 2')
  await chain.mine(1)
  await watch()
  expect(await cy.read(path)).toContain('20,000 credits')
  expect(await cy.read(place)).toContain('Credited')
  expect(await cy.read('/wallet')).toContain('20,000')
  expect((await olga.open(path)).status).toBe(404)
})

test('shows no way to pay an expired invoice, and credits a payment that arrives later', async () => {
  const { path, address } = await pay('usdt', '20')
  const status = async () => (await cy.show(path)).byRole('status').text
  expect((await cy.show(path)).text).toContain('in 1 hour')
  t.clock.advance(coins.usdt.lockMs)
  const page = await cy.show(path)
  expect(page.names('heading')).toContain('Invoice expired')
  expect(page.text).toContain('Do not send money to its address.')
  // A late payment is found until then.
  expect(page.text).toContain('before 11 May 2026, 13:00 UTC is credited')
  const text = await cy.read(path)
  for (const wayToPay of [
    address,
    address.toLowerCase(),
    'ethereum:',
    'class="qr"',
    '<copy-line',
  ]) {
    expect([wayToPay, text.includes(wayToPay)]).toEqual([wayToPay, false])
  }
  const again = page.byRole('link', 'Create a new invoice').attribute('href') ?? ''
  const form = (await cy.show(again)).form(place)
  expect(form.fields).toMatchObject({ amount: '20', method: 'usdt' })
  await chain.sendUsdt([address, 20_000_000n])
  await chain.mine(2)
  await watch()
  expect(await status()).toContain('A payment arrived after the end.')
  expect((await cy.show(path)).names('heading')).toContain('Payment received')
  expect(await cy.read('/wallet')).toContain('20,000')
})

test('says when the payments of an expired invoice are not looked for any more', async () => {
  const { path } = await pay('usdt', '20')
  t.clock.advance(coins.usdt.lockMs + lateMs)
  expect((await cy.show(path)).text).toContain('not looked for since 11 May 2026')
})

test('shows only the address after a part arrived: the code has the whole amount', async () => {
  const { path, address } = await pay('usdt', '20')
  await chain.sendUsdt([address, 5_000_000n])
  await chain.mine(2)
  await watch()
  const page = await cy.show(path)
  expect(page.text).toContain('Send the rest of 20 USDT')
  expect(page.text).toContain('5 USDT arrived.')
  expect(page.text).toContain(address)
  expect((await cy.read(path)).includes('ethereum:')).toBe(false)
})

test('rejects wrong forms and keeps what was typed', async () => {
  for (const [method, amount, text] of [
    ['doge', '20', 'Choose a coin.'],
    ['usdt', '0', '1 to 10000 USD'],
    ['usdt', '-5', 'Enter USD as a number'],
    ['usdt', '1e30', 'Enter USD as a number'],
    ['usdt', 'NaN', 'Enter USD as a number'],
    ['btc', '20', 'TOPUP_BTC_XPUB'],
  ] as const) {
    const response = await cy.fill(place, place, { method, amount })
    expect([method, amount, response.status]).toEqual([method, amount, 400])
    expect(alertText(response)).toContain(text)
    expect(shownPage(response.body).byLabel(/^Amount/).value).toBe(amount)
  }
})

test('the console shows what came in, and credits an unmatched payment once, by hand', async () => {
  const { path, address } = await pay('eth', '6')
  await chain.sendUsdt([address, 6_000_000n])
  await chain.mine(2)
  await watch()
  const page = await olga.show('/console/payments')
  expect(page.text).toContain('USDT to an invoice of ETH')
  const { payment = '' } = page.form('/console/payments').hiddenFields
  const invoice = path.split('/').at(-1) ?? ''
  const credit = (more: Record<string, string>) =>
    olga.fill('/console/payments', '/console/payments', { payment, invoice, ...more })
  expect((await cy.send('/console/payments', { payment, invoice })).status).toBe(404)
  expect((await credit({ invoice: 'nothing' })).status).toBe(400)
  const kept = await olga.fill('/console/payments', '/console/payments', { payment, invoice })
  expect(kept.status).toBe(303)
  expect(await cy.read(path)).toContain('The operator credited this payment.')
  expect(await cy.read('/wallet')).toContain('6,000')
  expect(await listAudit(t.ctx, 1)).toMatchObject([{ did: 'credit-payment', item: invoice }])
  const after = await olga.read('/console/payments')
  expect(after).toContain('$6')
  expect(after).not.toContain('Credit by hand')
  const csv = await olga.read('/console/payments.csv')
  expect(csv).toMatch(
    /^time,network,tx,output,asset,amount,usd,account,invoice,address\r\n.+USDT,6,6,/,
  )
})

test('berth payments check names each problem', async () => {
  const check = (words: string[]) => commands['payments']?.(t.ctx, words)
  expect(await check(['check'])).toMatchObject({
    ok: true,
    text: expect.stringMatching(
      /^Networks: eip155:1\nTOPUP_EVM_RPC_URLS\[0\] \(127\.0\.0\.1:\d+\): ok$/,
    ),
    data: {
      ok: true,
      networks: ['eip155:1'],
      servers: [{ name: expect.stringContaining('TOPUP_EVM_RPC_URLS[0]'), problem: null }],
    },
  })
  expect(await check([])).toMatchObject({ ok: false })
  const wrong = await startTestServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_CHAIN: '11155111',
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_KRAKEN_URL: chain.url,
    TOPUP_COINGECKO_URL: chain.url,
  })
  const result = await commands['payments']?.(wrong.ctx, ['check'])
  const problem = expect.stringContaining('It serves chain 1')
  expect(result).toMatchObject({
    ok: false,
    data: { ok: false, servers: expect.arrayContaining([expect.objectContaining({ problem })]) },
  })
  expect(result?.text).toContain('It serves chain 1 instead of 11155111.')
  expect(result?.text).toMatch(/kraken: .+\ncoingecko: /)
  await wrong.close()
})
