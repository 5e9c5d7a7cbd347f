import type { AppContext } from '../context.ts'
import { nano } from '../core/money.ts'
import * as keys from '../hosting/people/keys.ts'
import { join, type Person, walletOf } from '../hosting/people/people.ts'
import { grantTo } from '../ledger/ledger.ts'
import type { Answer, TestHouse } from './test-server.ts'

/** A person with a personal key, calling People operations with it. */
export interface Owner {
  person: Person
  key: string
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export const password = 'correct horse battery'

/** Makes a person with a personal key; `usd` is what the operator put into the wallet. */
export async function newOwner(h: TestHouse, name: string, usd = 0n): Promise<Owner> {
  const { person } = await join(h.ctx, { name, password })
  const key = await keys.make(h.ctx, person, 'person', 'scripts')
  if (usd > 0n) await fund(h.ctx, person, usd)
  return {
    person,
    key,
    call: (method, path, body, headers) =>
      h.call(method, path, { key, body, ...(headers && { headers }) }),
  }
}

/** As `berth grant <name> <usd>` does it. */
export const fund = (ctx: AppContext, person: Person, usd: bigint): Promise<unknown> =>
  grantTo(ctx, walletOf(person), {
    amount: nano(usd * 1_000_000_000n),
    kind: 'grant',
    ref: `fund:${person.id}`,
    free: false,
  })
