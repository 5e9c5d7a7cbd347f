import { databaseUrl } from '../../kernel/config/load.ts'
import { formatDecimal, fromUsd } from '../../kernel/money.ts'
import { itemsOf, recordOf } from '../../kernel/schema.ts'
import { type EvmChain, startEvmChain, usdtAddress } from '../fixtures/evm-chain.ts'
import { seeded } from '../fixtures/random.ts'
import { fixedRates, testXpub } from '../fixtures/topups.ts'
import {
  expect,
  runBerth,
  type ServerProcess,
  startServerProcess,
  textAt,
} from './server-process.ts'

/** Counts of a run. */
export interface TopupKills {
  kills: number
  payments: number
  /** The value on the chain in billionths of a USD, all of it credited. */
  value: bigint
}

interface Run {
  chain: EvmChain
  dataDir: string
  env: Record<string, string>
  draw: () => number
  /** Each account has a limit of unpaid invoices. */
  keys: string[]
  addresses: { usdt: string[]; eth: string[] }
  payments: number
}

/** Watchers run a second after the start, and then once a second. */
const killMsMax = 1_500
const settleMsMax = 90_000
const roundsPerAccount = 10
/** Wei that are worth 3 billionths of a USD at the fixed rate of 3000 USD. */
const weiPerThreeNano = 10n ** 6n

/**
 * Creates invoices, pays them on a real chain and kills the server with SIGKILL at a random moment
 * of its watcher, `rounds` times. In the end the accounts have exactly what the chain has for them.
 * Throws an Error that names the difference. DATABASE_URL selects PostgreSQL.
 */
export async function killWhileToppingUp(
  dataDir: string,
  rounds: number,
  seed: number,
): Promise<TopupKills> {
  const chain = await startEvmChain()
  const env = {
    DATABASE_URL: databaseUrl(),
    DISK_FLOOR_BYTES: '0',
    OLLAMA_HOST: 'off',
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_EVM_CONFIRMATIONS: '3',
    TOPUP_RATES: fixedRates,
  }
  const addresses = { usdt: [], eth: [] }
  const run: Run = { chain, dataDir, env, draw: seeded(seed), keys: [], addresses, payments: 0 }
  try {
    await chain.mine(20)
    for (let round = 0; round < rounds; round += 1) await runUntilKilled(run, round)
    const value = await settle(run)
    const { code, out, err } = await runBerth(['doctor', '--data', dataDir], { env })
    expect(code === 0 && out.includes('sound'), `the books: ${out}${err}`)
    return { kills: rounds, payments: run.payments, value }
  } finally {
    await chain.stop()
  }
}

async function runUntilKilled(run: Run, round: number): Promise<void> {
  const { chain, draw } = run
  const server = await startServerProcess(run.dataDir, { env: run.env })
  let isKilled = false
  try {
    if (run.keys.length * roundsPerAccount <= round) run.keys.push(await newAccount(server))
    const [isEarly, wait] = [draw() < 0.5, draw() * killMsMax]
    const work = createAndPay(run, server).catch((error: unknown) => {
      // The kill can cut a call, which then may have created an invoice or not.
      if (!isKilled) throw error
    })
    // Half of the kills cut the creation and payment of invoices, the others the watcher.
    const done = work.then(() => Bun.sleep(wait))
    await (isEarly ? Promise.race([Bun.sleep(wait), done]) : done)
    isKilled = true
    server.kill('SIGKILL')
    await work
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
  // Blocks go on while the server is down.
  await chain.mine(Math.floor(draw() * 3))
}

async function newAccount(server: ServerProcess): Promise<string> {
  for (;;) {
    const made = await server.call('POST', '/accounts/create')
    const account: unknown = await made.json()
    if (made.status !== 503) return textAt(account, 'api_key')
    await Bun.sleep(500)
  }
}

async function createAndPay(run: Run, server: ServerProcess): Promise<void> {
  const { chain, draw, addresses } = run
  const key = run.keys.at(-1)
  for (const method of ['usdt', 'eth'] as const) {
    const made = await server.call('POST', `/topup/create/${method}`, key, { amount: 2 })
    const body: unknown = await made.json()
    // A database that does not respond in time, on a busy machine.
    if (made.status === 503) continue
    expect(made.status === 200, `a new invoice: ${made.status} ${JSON.stringify(body)}`)
    const address = textAt(body, 'address')
    addresses[method].push(address)
    const some = () => BigInt(Math.floor(draw() * 3_000_000) + 1)
    const older = addresses.usdt[Math.floor(draw() * addresses.usdt.length)] ?? address
    if (method === 'usdt') {
      await chain.sendUsdt([address, some()], [older, some()])
      run.payments += 2
    } else {
      await (draw() < 0.5 ? chain.sendEther : chain.forwardEther)(address, some() * weiPerThreeNano)
      run.payments += 1
    }
    await chain.mine(1)
  }
}

/** Waits until everything on the chain is credited, and returns it in billionths of a USD. */
async function settle(run: Run): Promise<bigint> {
  const { chain, dataDir, env, keys } = run
  await chain.mine(5)
  const value = await valueOnChain(run)
  const server = await startServerProcess(dataDir, { env })
  try {
    let balance = -1n
    for (let waited = 0; waited < settleMsMax && balance !== value; waited += 500) {
      await Bun.sleep(500)
      const balances = await Promise.all(keys.map((key) => balanceOf(server, key)))
      balance = balances.reduce((sum, one) => sum + one, 0n)
    }
    expect(balance === value, `credited ${balance}, and the chain has ${value}`)
    return value
  } finally {
    server.kill('SIGTERM')
    await server.exited
  }
}

async function balanceOf(server: ServerProcess, key: string): Promise<bigint> {
  const body: unknown = await (await server.call('POST', '/credits/balance', key)).json()
  return fromUsd(formatDecimal(Number(recordOf(body)['balance']))) ?? -1n
}

async function valueOnChain({ chain, addresses }: Run): Promise<bigint> {
  const logs = itemsOf(
    await chain.call('eth_getLogs', [{ fromBlock: '0x0', address: usdtAddress }]),
  )
  const own = new Set(addresses.usdt.map((address) => address.toLowerCase().slice(2)))
  let value = 0n
  for (const log of logs.map(recordOf)) {
    const to = String(itemsOf(log['topics'])[2]).slice(26)
    if (own.has(to)) value += BigInt(String(log['data'])) * 1_000n
  }
  for (const address of addresses.eth) {
    const wei = BigInt(String(await chain.call('eth_getBalance', [address, 'latest'])))
    value += (wei * 3_000n * 10n ** 9n) / 10n ** 18n
  }
  return value
}
