import { startChain, type TestChain, type TestWallet } from '../fixtures/chain.ts'
import { signPayment } from '../fixtures/payments.ts'
import { seeded } from '../fixtures/random.ts'
import { expect, runBerth, type ServerProcess, startServerProcess } from './server-process.ts'

/** An agent with a wallet, and the payments that it sent without a response. */
interface Payer {
  key: string
  wallet: TestWallet
  open: Record<string, string>[]
}

/** Counts of a run. */
export interface PaymentKills {
  kills: number
  payments: number
  /** Units of USDC that the payee has, all of them credited. */
  units: bigint
}

const payers = 4
const startCredits = 400
const funds = 10n ** 12n
/** The longest time until a kill. A settlement on the local chain takes about 100 ms. */
const killMsMax = 400
const settleMsMax = 60_000
const pauseMs = 200

/**
 * Serves a data folder with x402 payments on a real chain, tops up from several agents at once and
 * kills the server with SIGKILL at a random moment, `rounds` times. After each start, the clients
 * send their payments again. Then the credits of all agents are what the payee received on the
 * chain, to the unit. Throws an Error otherwise. A seed repeats amounts and moments.
 */
export async function killWhilePaying(
  dataDir: string,
  rounds: number,
  seed: number,
): Promise<PaymentKills> {
  const draw = seeded(seed)
  const chain = await startChain()
  try {
    const [payee, gas] = [await chain.createWallet(0n), await chain.createGasWallet(10n ** 20n)]
    const env = {
      X402_NETWORK: 'base-sepolia',
      X402_RPC_URLS: chain.url,
      X402_PAY_TO: payee.address,
      X402_GAS_KEY: gas.key,
      ...(Bun.env.DATABASE_URL && { DATABASE_URL: Bun.env.DATABASE_URL }),
    }
    const world: Payer[] = []
    let payments = 0
    for (let round = 1; round <= rounds; round += 1) {
      const server = await startServerProcess(dataDir, { env })
      try {
        while (world.length < payers) world.push(await newPayer(server, chain))
        await Promise.all(world.map((payer) => settleAll(server, payer)))
        await checkCredits(server, chain, world, payee.address)
        payments += await payUntilKilled(server, world, payee.address, draw)
      } finally {
        server.kill('SIGKILL')
        await server.exited
      }
    }
    const server = await startServerProcess(dataDir, { env })
    await Promise.all(world.map((payer) => settleAll(server, payer)))
    await checkCredits(server, chain, world, payee.address)
    server.kill('SIGTERM')
    await server.exited
    const { code, out, err } = await runBerth(['doctor', '--data', dataDir], { env })
    expect(code === 0 && out.includes('sound'), `the books: ${out}${err}`)
    return { kills: rounds, payments, units: await chain.balanceOf(payee.address) }
  } finally {
    await chain.stop()
  }
}

async function newPayer(server: ServerProcess, chain: TestChain): Promise<Payer> {
  return { key: await server.newKey(), wallet: await chain.createWallet(funds), open: [] }
}

/** Sends new payments of all payers at once, and waits for a random moment. Returns their count. */
async function payUntilKilled(
  server: ServerProcess,
  world: Payer[],
  payTo: string,
  draw: () => number,
): Promise<number> {
  for (const payer of world) {
    const units = 1_000n + BigInt(Math.floor(draw() * 1_000_000))
    payer.open.push(await signPayment(payer.wallet, { payTo, units, validBefore: inAnHour() }))
  }
  const responses = world.map((payer) => send(server, payer))
  await Bun.sleep(draw() * killMsMax)
  server.kill('SIGKILL')
  await Promise.allSettled(responses)
  return world.length
}

const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_500

/** Sends the oldest open payment. Its response closes it, also where it is a failure for good. */
async function send(server: ServerProcess, payer: Payer): Promise<void> {
  const [payment] = payer.open
  if (!payment) return
  const response = await fetch(`${server.origin}/api/topup`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${payer.key}`,
      'content-type': 'application/json',
      ...payment,
    },
    body: JSON.stringify({ credits: 1 }),
  })
  const text = await response.text()
  if (response.status === 202 || response.status === 503) return
  expect(response.status === 200, `a payment: ${response.status} ${text}`)
  payer.open.shift()
}

/** Sends the open payments of a payer until each of them is credited. */
async function settleAll(server: ServerProcess, payer: Payer): Promise<void> {
  for (let ms = 0; payer.open.length > 0; ms += pauseMs) {
    expect(ms < settleMsMax, 'a payment is still open')
    await send(server, payer)
    if (payer.open.length > 0) await Bun.sleep(pauseMs)
  }
}

/** Checks that the agents have exactly the credits that the payee received. */
async function checkCredits(
  server: ServerProcess,
  chain: TestChain,
  world: Payer[],
  payee: TestWallet['address'],
): Promise<void> {
  let credited = 0n
  for (const { key } of world) {
    const body: unknown = await (await server.call('GET', '/api/me', key)).json()
    const credits = Number(Reflect.get(Object(body), 'credits'))
    credited += BigInt(Math.round((credits - startCredits) * 1_000))
  }
  const received = await chain.balanceOf(payee)
  expect(credited === received, `${credited} units were credited, ${received} received`)
}
