import { AsyncLocalStorage } from 'node:async_hooks'

import { addressGroup, addressPrefix } from './address.ts'
import { type CostKind, type Costs, workMsPerRequest } from './costs.ts'

/**
 * The party that work is done for: limits, queues and costs count by it. A client without an
 * account is anonymous.
 */
export interface Client {
  /** The network: /24 of IPv4, /56 of IPv6. '' for work of the server itself. */
  readonly prefix: string
  /** The address in it: IPv4, or the /64 of IPv6. Jobs do not know it. */
  readonly group?: string
  /** The owner of the key or session: "agent:…", "gateway:…", "person:…". */
  account?: string | undefined
  /** The public prefix of the key. */
  key?: string | undefined
  /** Charges a cost to the network, the account and the key. */
  charge(kind: CostKind, amount: number): void
}

/** Work that no client asked for, such as maintenance. */
const serverItself: Client = { prefix: '', charge: () => undefined }

const current = new AsyncLocalStorage<Client>()

/** Returns the client that the running work is for. */
export const currentClient = (): Client => current.getStore() ?? serverItself

/** Runs work for a client. All that it awaits and starts is for that client too. */
export const runFor = <Result>(client: Client, work: () => Result): Result =>
  current.run(client, work)

/** The most requests that one piece of work counts like. */
const workUnitsMax = 10

/** A client whose requests arrive from an address. */
export class AddressClient implements Client {
  account: string | undefined
  key: string | undefined
  /** Charges the rate limit of the address for work beyond the request itself. */
  chargeRate: ((units: number) => void) | undefined
  private ownGroup: string | undefined
  private ownPrefix: string | undefined

  constructor(
    readonly address: string,
    private readonly costs: Costs,
  ) {}

  /** The address that rate limits count by: the IPv4 address, or the /64 of IPv6. */
  get group(): string {
    return (this.ownGroup ??= addressGroup(this.address))
  }

  get prefix(): string {
    return (this.ownPrefix ??= addressPrefix(this.address))
  }

  charge(kind: CostKind, amount: number): void {
    this.costs.charge(this, kind, amount)
    // On a busy machine work takes longer, which is no fault of the client.
    if (kind === 'work') this.chargeRate?.(Math.min(amount / workMsPerRequest, workUnitsMax))
  }
}

/** A client of earlier work, such as that of a job: it has no rate limit. */
export class RecordedClient implements Client {
  key: string | undefined

  constructor(
    readonly prefix: string,
    readonly account: string,
    private readonly costs: Costs,
  ) {}

  charge(kind: CostKind, amount: number): void {
    this.costs.charge(this, kind, amount)
  }
}
