import { fromUsd } from '../core/money.ts'
import { grantTo } from '../ledger/ledger.ts'
import { listUses } from '../models/history.ts'
import type { Answer, Sent, TestHouse } from './test-server.ts'

/** A gateway account, calling with its first key from an address of its own. */
export interface Gus {
  creditId: string
  key: string
  call(method: string, path: string, body?: unknown, headers?: Sent['headers']): Promise<Answer>
}

/** Makes a gateway account through the front door and gives it so many USD ("2.5"). */
export async function newGus(test: TestHouse, usd = '0', from = '198.51.100.1'): Promise<Gus> {
  const made = await test.visit('POST', '/accounts/create', { from })
  const [creditId, key] = [made.text('credit_id'), made.text('api_key')]
  const amount = fromUsd(usd)
  if (amount) {
    const owner = { kind: 'gateway', owner: creditId } as const
    const ref = `fund:${creditId}`
    await grantTo(test.ctx, owner, { amount, kind: 'grant', ref, free: false })
  }
  return {
    creditId,
    key,
    call: (method, path, body, headers) =>
      test.visit(method, path, { key, body, from, ...(headers && { headers }) }),
  }
}

/** A house behind a real server, for clients that leave, with the accounts of its gateway. */
export function serveGateway(ctx: TestHouse) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => ctx.door(request, '127.0.0.1'),
  })
  let accounts = 0
  return {
    origin: `http://127.0.0.1:${server.port}`,
    /** A gateway account with so many USD. */
    gus: (usd = '1') => newGus(ctx, usd, `198.51.100.${++accounts}`),
    /** The newest row of an account's history, and how many there are. */
    async lastUse({ creditId }: Gus) {
      const query = { account: `gateway:${creditId}`, page: 1, size: 1 }
      const { rows, total } = await listUses(ctx.ctx.db.read, query)
      return { use: rows[0], total }
    },
    stop: () => server.stop(true),
  }
}

export type ServedGateway = Omit<ReturnType<typeof serveGateway>, 'stop'>
