/** Clients of attacks: each sends from an address of its own. */
import type { BenchServer } from '../bench/load/served.ts'

export interface AttackResponse {
  status: number
  body: Record<string, unknown>
}

export type Call = (
  method: string,
  path: string,
  body?: object | FormData,
) => Promise<AttackResponse>

/** Returns calls from an address, with a key where there is one. */
export const callsFrom =
  ({ port }: Pick<BenchServer, 'port'>, address: string, key?: unknown): Call =>
  async (method, path, body) => {
    const isForm = body instanceof FormData
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        'x-forwarded-for': address,
        ...(key !== undefined && { authorization: `Bearer ${String(key)}` }),
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : {} }
  }

/** Returns calls of a new agent. Its key is of an address; three are free a day. */
export async function newAgent(server: Pick<BenchServer, 'port'>, address: string): Promise<Call> {
  const { body } = await callsFrom(server, address)('POST', '/api/keys', {})
  return callsFrom(server, address, body.key)
}

/** Returns calls of a new gateway account. */
export async function newAccount(
  server: Pick<BenchServer, 'port'>,
  address: string,
): Promise<Call> {
  const { body } = await callsFrom(server, address)('POST', '/accounts/create')
  return callsFrom(server, address, body.api_key)
}

/**
 * Starts the work of the attackers, then that of the victim. Returns how many attackers were done
 * before the victim, and all results. It counts, because times depend on the load of the machine.
 */
export async function countAhead<Result>(
  attackers: (() => Promise<Result>)[],
  victim: () => Promise<Result>,
): Promise<{ ahead: number; attacks: Result[]; own: Result }> {
  let ended = 0
  const running = attackers.map(async (attack) => {
    const result = await attack()
    ended += 1
    return result
  })
  // Long enough for a request to arrive, on a machine under load too.
  await Bun.sleep(arrivalMs)
  const before = ended
  const own = await victim()
  const ahead = ended - before
  return { ahead, own, attacks: await Promise.all(running) }
}

const arrivalMs = 400
