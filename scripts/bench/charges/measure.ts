/**
 * `bun src/testing/postgres.ts bun scripts/bench/charges/measure.ts`: prints the CPU of a charged
 * chat as JSON: with SQLite, on one core, and with the PostgreSQL of DATABASE_URL. All alternate
 * with a bare pass-through.
 */
import { chatAt, serveBinary, serveGateway } from '../gateway/served.ts'
import { costUs, ratio, runLoad, type Target } from '../load/load.ts'

export interface Cost {
  /** CPU over that of the peer. */
  ratio: number
  us: number
}

export type Charges = Record<'many' | 'one' | 'pinned' | 'postgres', Cost>

const callers = 32
/** A handler that runs rarely is not compiled yet. */
const warmUpMs = 15_000
const url = Bun.env.DATABASE_URL
if (!url) throw new Error('DATABASE_URL is not set.')

const { upstream, pass, ctx, newAccount, stop } = await serveGateway()
const pinned = await serveBinary(upstream, {}, ['taskset', '-c', '0'])
const postgres = await serveBinary(upstream, { DATABASE_URL: url })
const chat = async (served: Pick<typeof pinned, 'ctx' | 'newAccount'>): Promise<Target> =>
  chatAt(served.ctx, (await served.newAccount()).key, false)
const gateways = [await chat({ ctx, newAccount }), await chat(pinned), await chat(postgres)]
const targets = [...gateways, chatAt(pass, 'none', false)]
for (const target of targets)
  await runLoad({ targets: [target], connections: callers, turnMs: warmUpMs, rounds: 1 })

const plan = { targets, turnMs: 600, rounds: 9 }
const [own = [], ofPinned = [], ofPostgres = [], bare = []] = await runLoad({
  ...plan,
  connections: callers,
})
const [alone = [], , , bareAlone = []] = await runLoad({ ...plan, connections: 1 })
const cost = (turns: typeof own, peer: typeof own): Cost => ({
  ratio: 1 / ratio(turns, peer),
  us: Math.round(costUs(turns)),
})
const charges: Charges = {
  many: cost(own, bare),
  one: cost(alone, bareAlone),
  pinned: cost(ofPinned, bare),
  postgres: cost(ofPostgres, own),
}
await Promise.all([pinned.stop(), postgres.stop()])
await stop()
console.log(JSON.stringify(charges))
process.exit(0)
