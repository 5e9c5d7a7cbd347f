import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import { encodeFunctionData, type Hex, keccak256, parseAbi, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

import { recordOf } from '../../kernel/schema.ts'
import { day } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { usdcOfBaseSepolia as usdc } from '../../money/payments/x402/network.ts'
import { usedTransfers } from '../../money/payments/x402/tables.ts'
import { startChain, startRpcProxy, type TestWallet } from '../../testing/fixtures/chain.ts'
import { skillText } from '../../testing/fixtures/folders.ts'
import { callNode } from '../../testing/fixtures/json-rpc.ts'
import { publishPackOnExplore } from '../../testing/fixtures/packs-on-explore.ts'
import { authorize, startPaidServer } from '../../testing/fixtures/payments.ts'
import batchContract from '../../testing/fixtures/solidity/Batch.json'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { expireShares } from './runs.ts'

setDefaultTimeout(60_000)

const network = 'eip155:84532'
const steps = [{ id: 'sell', title: 'Sell it', done: 'Somebody paid.' }]
const abi = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

const chain = await startChain()
const t = await startPaidServer(chain)
const [maker, ben] = [await t.agent('mia'), await t.agent('ben')]
const payTo = await chain.createWallet(0n)
const payer = await chain.createWallet()
await chain.client.setBalance({ address: payer.address, value: 10n ** 18n })
const share = { percent: 10, of: 'profit', payTo: payTo.address, network, asset: 'USDC' }
const pack = await publishPackOnExplore(maker, { steps, share }, 'framework')
afterAll(async () => {
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
  await chain.stop()
})

const profit = { amount: '12.50', currency: 'USDC' }
const worked = { outcome: 'worked', summary: 'Sold.', profit }

/** Starts and reports a run whose share is due, and returns it. */
async function due(report: object = worked, by = ben) {
  const id = (await by.call('POST', '/runs', { pack })).text('run.id')
  const { status, body } = await by.call('POST', `/runs/${id}/report`, report)
  expect({ status, body }).toMatchObject({ status: 200 })
  return { id, shareDue: Object(body).shareDue }
}

const submit = (
  wallet: TestWallet,
  to: Hex,
  units: bigint,
  token: Hex = usdc,
  fee?: bigint,
): Promise<Hex> =>
  chain.client.sendTransaction({
    account: privateKeyToAccount(wallet.key),
    to: token,
    data: encodeFunctionData({ abi, functionName: 'transfer', args: [to, units] }),
    gas: 200_000n,
    ...(fee !== undefined && { maxFeePerGas: fee, maxPriorityFeePerGas: fee }),
  })

const send = (...transfer: Parameters<typeof submit>): Promise<Hex> =>
  chain.mined(submit(...transfer))

const sign = ({ key }: TestWallet, run: string, tx: string): Promise<Hex> =>
  privateKeyToAccount(key).signMessage({
    message: `Berth profit share\nrun: ${run}\ntx: ${tx}\nnetwork: ${network}`,
  })

const pay = (id: string, body: object, by = ben) => by.call('POST', `/runs/${id}/share`, body)
const units = 1_250_000n

test('a report says what is due, with the nonce of the run', async () => {
  const { id, shareDue } = await due()
  expect(shareDue).toMatchObject({ amount: '1.25', asset: usdc, network, payTo: payTo.address })
  expect(shareDue.nonce).toBe(keccak256(toBytes(`berth/share/v1|${pack}|${id}`)))
  expect((await ben.call('GET', `/runs/${id}`)).body).toMatchObject({
    run: { state: 'share_due', share: { verdict: 'no_proof', due: shareDue, payment: null } },
  })
  expect(Object((await t.call('GET', `/runs/${id}`)).body).run.share).toEqual({
    verdict: 'no_proof',
  })
})

test.each([1, 2] as const)('the official client of version %i pays the maker', async (version) => {
  const { id } = await due({ ...worked, profit: { amount: '0.5', currency: 'USDC' } })
  const wallet = await chain.createWallet()
  const fetch = await t.payingFetch(wallet, version)
  const before = await chain.balanceOf(payTo.address)
  const headers = { authorization: `Bearer ${ben.key}` }
  const response = await fetch(`/api/runs/${id}/share`, { method: 'POST', headers })
  const body = recordOf(await response.json())
  expect([response.status, body]).toMatchObject([
    200,
    { run: { state: 'settled', share: { verdict: 'verified' } }, payment: { amount: '0.05' } },
  ])
  expect((await chain.balanceOf(payTo.address)) - before).toBe(50_000n)
  const { body: ledger } = await ben.call('GET', '/me/ledger?kind=topup')
  expect(JSON.stringify(ledger)).not.toContain('topup')
  const { body: notes } = await maker.call('GET', '/me/notes?kind=share.paid&limit=1')
  expect(notes).toMatchObject({ notes: [{ data: { run: id, amount: '0.05' } }] })
  const again = await ben.call('POST', `/runs/${id}/share`)
  expect([again.status, again.text('run.state')]).toEqual([200, 'settled'])
  const tx = String(recordOf(body['payment'])['tx'])
  const other = await due()
  const reused = await pay(other.id, { tx, network, signature: await sign(wallet, other.id, tx) })
  expect(reused.code).toBe('tx_too_small')
})

test('an authorization with the nonce of the run needs no signature', async () => {
  const { id, shareDue } = await due()
  const signed = await authorize(payer, { payTo: payTo.address, units, nonce: shareDue.nonce })
  const { message: m } = signed
  const relay = await chain.createGasWallet()
  const tx = await chain.client.sendTransaction({
    account: privateKeyToAccount(relay.key),
    to: usdc,
    data: encodeFunctionData({
      abi,
      functionName: 'transferWithAuthorization',
      args: [m.from, m.to, m.value, m.validAfter, m.validBefore, m.nonce, signed.signature],
    }),
  })
  const other = await due()
  expect((await pay(other.id, { tx, network })).code).toBe('tx_not_yours')
  const paid = await pay(id, { tx, network: 'base-sepolia' })
  expect(paid.body).toMatchObject({ payment: { tx, payer: payer.address, amount: '1.25' } })
})

test('a transaction without the nonce needs a signature by its sender, and pays once', async () => {
  const { id } = await due()
  const tx = await send(payer, payTo.address, units)
  const thief = await chain.createWallet(0n)
  for (const body of [
    { tx, network },
    { tx, network, signature: await sign(thief, id, tx) },
    { tx, network, signature: await sign(payer, 'AAAAAAAAAAAA', tx) },
    { tx, network, signature: '0x00' },
  ]) {
    const no = await pay(id, body)
    expect([no.status, no.code]).toEqual([403, 'tx_not_yours'])
  }
  expect((await ben.call('GET', `/runs/${id}`)).text('run.share.verdict')).toBe('unlinked')
  const cy = await t.agent('cyd')
  expect((await pay(id, { tx, network }, cy)).code).toBe('run_not_found')
  const signature = await sign(payer, id, tx)
  const paid = await pay(id, { tx: tx.toUpperCase().replace('0X', '0x'), network, signature })
  expect(paid.body).toMatchObject({ run: { state: 'settled' }, payment: { tx } })
  const other = await due()
  const reused = await pay(other.id, { tx, network, signature: await sign(payer, other.id, tx) })
  expect([reused.status, reused.code]).toEqual([409, 'tx_used'])
})

const bad: [code: string, status: number, transaction: () => Promise<string>][] = [
  ['tx_not_found', 404, async () => `0x${'ab'.repeat(32)}`],
  ['tx_wrong_payee', 422, () => send(payer, maker404, units)],
  ['tx_too_small', 422, () => send(payer, payTo.address, units - 1n)],
  ['tx_failed', 422, () => send(payer, payTo.address, 10n ** 15n)],
  [
    'tx_wrong_asset',
    422,
    () =>
      chain.mined(
        chain.client.sendTransaction({
          account: privateKeyToAccount(payer.key),
          to: payTo.address,
          value: 1n,
        }),
      ),
  ],
]
const maker404: Hex = `0x${'11'.repeat(20)}`
test.each(bad)('%s', async (code, status, transaction) => {
  const { id } = await due()
  const tx = await transaction()
  const no = await pay(id, { tx, network, signature: await sign(payer, id, tx) })
  expect([no.status, no.code]).toEqual([status, code])
  const verdict = code === 'tx_not_found' ? 'no_proof' : 'mismatch'
  expect((await ben.call('GET', `/runs/${id}`)).body).toMatchObject({
    run: { state: 'share_due', share: { verdict, payment: null } },
  })
})

/** Runs work at a later time of the server. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { clock } = t.ctx
  Object.assign(t.ctx, { clock: { now: () => clock.now() + ms } })
  return work().finally(() => Object.assign(t.ctx, { clock }))
}

test('a transaction of another chain, an old one and an unconfirmed one are rejected', async () => {
  const tx = await send(payer, payTo.address, units)
  const { id: next } = await later(120_000, due)
  const signature = await sign(payer, next, tx)
  expect((await pay(next, { tx, network: 'eip155:1', signature })).code).toBe('tx_wrong_asset')
  expect((await pay(next, { tx, network, signature })).code).toBe('tx_too_old')
  const { id } = await due()
  await chain.client.setAutomine(false)
  const waiting = await submit(payer, payTo.address, units)
  const proof = { tx: waiting, network, signature: await sign(payer, id, waiting) }
  const no = await pay(id, proof)
  expect([no.status, no.code, no.headers.get('retry-after')]).toEqual([409, 'tx_unconfirmed', '5'])
  await chain.client.mine({ blocks: 1 })
  await chain.client.setAutomine(true)
  expect((await pay(id, proof)).status).toBe(200)
})

test('nothing is due without profit, of an own run, and before the report', async () => {
  const zero = await due({ ...worked, profit: { amount: '0', currency: 'USDC' } })
  expect(zero.shareDue).toBeUndefined()
  expect((await pay(zero.id, {})).code).toBe('bad_request')
  const failed = await due({ outcome: 'failed', summary: 'No.' })
  expect((await ben.call('GET', `/runs/${failed.id}`)).text('run.state')).toBe('settled')
  const own = await due(worked, maker)
  expect(own.shareDue).toBeUndefined()
  const open = (await ben.call('POST', '/runs', { pack })).text('run.id')
  expect((await pay(open, {})).text('error')).toContain('Report the run first')
  const revenue = { outcome: 'worked', summary: 'Sold.', revenue: profit }
  for (const report of [{ outcome: 'worked', summary: 'Sold.' }, revenue, { ...revenue, profit }])
    expect((await ben.call('POST', `/runs/${open}/report`, report)).code).toBe('bad_request')
  const plain = await publishPackOnExplore(maker, { skill: skillText('plain') })
  const run = (await ben.call('POST', '/runs', { pack: plain })).text('run.id')
  expect((await pay(run, {})).code).toBe('share_off')
})

test('an unpaid share becomes overdue and can still be paid', async () => {
  const record = async () => Object((await t.call('GET', `/packs/${pack}/record`)).body).record
  const { id } = await due()
  const before = await record()
  await later(31 * day, () => expireShares(t.ctx))
  expect((await ben.call('GET', `/runs/${id}`)).text('run.state')).toBe('overdue')
  expect((await record()).shareOverdue).toBeGreaterThan(before.shareOverdue)
  const overdue = (await record()).shareOverdue
  const tx = await send(payer, payTo.address, units)
  expect((await pay(id, { tx, network, signature: await sign(payer, id, tx) })).status).toBe(200)
  const after = await record()
  expect([overdue - after.shareOverdue, after.sharePaidUsd - before.sharePaidUsd]).toEqual([
    1,
    expect.closeTo(1.25, 6),
  ])
  expect(after.shares.verified).toBe(before.shares.verified + 1)
})

test('two transfers of a transaction pay two shares, also after a reorganization', async () => {
  const batch = await chain.client.deployContract({
    abi: [],
    account: privateKeyToAccount(payer.key),
    bytecode: `0x${batchContract.bytecode.slice(2)}`,
  })
  const { contractAddress: to } = await chain.client.waitForTransactionReceipt({ hash: batch })
  const calls = [await transferBySignature(), await transferBySignature()]
  const run = parseAbi(['function run(address target, bytes[] calls)'])
  const data = encodeFunctionData({ abi: run, args: [usdc, calls] })
  const before = await chain.client.snapshot()
  const account = privateKeyToAccount((await chain.createGasWallet()).key)
  const tx = await chain.mined(chain.client.sendTransaction({ account, to, data }))
  const payOnce = async () => {
    const { id } = await due()
    return pay(id, { tx, network, signature: await sign(payer, id, tx) })
  }
  for (const paid of [await payOnce(), await payOnce()]) expect(paid.status).toBe(200)
  expect((await payOnce()).code).toBe('tx_used')

  // The transaction is in a new block, and its logs are behind those of another one.
  const { result } = await callNode(chain.url, 'eth_getRawTransactionByHash', [tx])
  await chain.client.revert({ id: before })
  await chain.client.setBalance({ address: account.address, value: 10n ** 18n })
  await chain.client.setAutomine(false)
  // A node mines what pays more first.
  await submit(payer, maker404, 1n, usdc, 10n ** 11n)
  await callNode(chain.url, 'eth_sendRawTransaction', [result])
  await chain.client.mine({ blocks: 1 })
  await chain.client.setAutomine(true)
  const { logs } = await chain.client.getTransactionReceipt({ hash: tx })
  expect(logs[0]?.logIndex).toBe(1)
  expect((await payOnce()).code).toBe('tx_used')
})

/** Returns a call of USDC that moves the amount of a share, signed by the payer. */
async function transferBySignature(): Promise<Hex> {
  const { message: m, signature } = await authorize(payer, { payTo: payTo.address, units })
  return encodeFunctionData({
    abi,
    functionName: 'transferWithAuthorization',
    args: [m.from, m.to, m.value, m.validAfter, m.validBefore, m.nonce, signature],
  })
}

test('a transaction that an earlier version stored by its position in the block counts as used', async () => {
  const tx = await send(payer, payTo.address, units)
  const { logs } = await chain.client.getTransactionReceipt({ hash: tx })
  const row = { network, tx, log: logs[0]?.logIndex ?? -1, at: 0 }
  await t.ctx.db.tx((db) => db.insert(usedTransfers).values(row))
  const { id } = await due()
  expect((await pay(id, { tx, network, signature: await sign(payer, id, tx) })).code).toBe(
    'tx_used',
  )
})

test.each(['drop', 'garble', 'limit', 'nonsense', 'other'] as const)(
  'a chain that is unreadable (%s) is chain_unavailable',
  async (kind) => {
    const other = await startChain()
    const proxy = startRpcProxy(other)
    const server = await startPaidServer(other, { X402_RPC_URLS: proxy.url })
    const [ann, cy] = [await server.agent('ann'), await server.agent('cyd')]
    const share = { percent: 10, of: 'profit', payTo: payTo.address, network, asset: 'USDC' }
    const sold = await publishPackOnExplore(ann, { steps, share }, 'framework')
    const id = (await cy.call('POST', '/runs', { pack: sold })).text('run.id')
    await cy.call('POST', `/runs/${id}/report`, worked)
    proxy.disturb = (method) => (method === 'eth_chainId' ? undefined : kind)
    const no = await pay(id, { tx: `0x${'ab'.repeat(32)}`, network }, cy)
    expect([no.status, no.code]).toEqual([503, 'chain_unavailable'])
    expect((await cy.call('GET', `/runs/${id}`)).text('run.share.verdict')).toBe('unreadable')
    await server.close()
    await proxy.stop()
    await other.stop()
  },
)

test('a share needs payments, this chain and a valid address', async () => {
  const share = { percent: 10, of: 'revenue', payTo: payTo.address, network, asset: 'USDC' }
  const skill = '---\nname: other\ndescription: Other.\n---\nDo it.\n'
  const off = await startTestServer()
  const ann = await off.agent('ann')
  expect((await ann.call('POST', '/frameworks', { skill, steps, share })).code).toBe('payments_off')
  await off.close()
  for (const change of [
    { network: 'eip155:1' },
    { asset: `0x${'22'.repeat(20)}` },
    { percent: 51 },
    { percent: -1 },
    { percent: 1.000001 },
    { payTo: `0x${'00'.repeat(20)}` },
    { payTo: '0xAbcdefabcdefabcdefabcdefabcdefabcdefabcd' },
  ]) {
    const no = await maker.call('POST', '/frameworks', {
      skill,
      steps,
      share: { ...share, ...change },
    })
    expect([change, no.code]).toEqual([change, 'bad_request'])
  }
})
