import { AsyncLocalStorage } from 'node:async_hooks'

import { addressGroup, addressPrefix } from './address.ts'
import { Cache } from './lazy.ts'
import { type Clock, minute } from './time.ts'

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

/** A cost: requests, milliseconds of a worker, bytes stored, or open streams and paid calls. */
type CostKind = 'requests' | 'work' | 'bytes' | 'open'

/** The parts of a client that costs are charged to. */
export type SubjectKind = 'address' | 'key' | 'account'

/** The names of these parts: the network, the prefix of the key, and its owner. */
interface Subjects {
  readonly prefix: string
  key?: string | undefined
  account?: string | undefined
}

/** The costs of one network, key or account: `open` now, the others of five to ten minutes. */
export type Spending = Record<CostKind, number>

interface Windows {
  /** Start of the current window. */
  start: number
  now: Spending
  before: Spending
}

/** Milliseconds of a worker that count like one request. */
const workMsPerRequest = 100
/** Bytes stored that count like one request in the order of the console. */
const bytesPerRequest = 1_048_576

const windowMs = 5 * minute
const subjectsMax = 10_000

export const noSpending = (): Spending => ({ requests: 0, work: 0, bytes: 0, open: 0 })

export const addSpending = (a: Spending, b: Spending): Spending => ({
  requests: a.requests + b.requests,
  work: a.work + b.work,
  bytes: a.bytes + b.bytes,
  open: a.open + b.open,
})

/**
 * Adds up what clients cost, by network, key and account, over a window and the one before. The
 * least recently active are forgotten first. A restart forgets all.
 */
export class Costs {
  private readonly windows = {
    address: new Cache<Windows>(subjectsMax),
    key: new Cache<Windows>(subjectsMax),
    account: new Cache<Windows>(subjectsMax),
  }

  constructor(private readonly clock: Clock) {}

  charge({ prefix, key, account }: Subjects, kind: CostKind, amount: number): void {
    if (prefix) this.add('address', prefix, kind, amount)
    if (key) this.add('key', key, kind, amount)
    if (account) this.add('account', account, kind, amount)
  }

  /** Returns what one subject costs. */
  spendingOf(subject: SubjectKind, name: string): Spending {
    const windows = this.windows[subject].get(name)
    return windows ? this.sum(windows) : noSpending()
  }

  /** Returns the `max` most expensive subjects of a kind, and the number of all that cost. */
  top(subject: SubjectKind, max: number): { name: string; spending: Spending }[] {
    return this.windows[subject]
      .entries()
      .map(([name, windows]) => ({ name, spending: this.sum(windows) }))
      .filter(({ spending }) => weightOf(spending) > 0)
      .toSorted((a, b) => weightOf(b.spending) - weightOf(a.spending))
      .slice(0, max)
  }

  private add(subject: SubjectKind, name: string, kind: CostKind, amount: number): void {
    const known = this.windows[subject].get(name)
    const windows = known ?? { start: this.clock.now(), now: noSpending(), before: noSpending() }
    this.roll(windows)
    windows.now[kind] += amount
    if (!known) this.windows[subject].set(name, windows)
  }

  private sum(windows: Windows): Spending {
    this.roll(windows)
    const { now, before } = windows
    return { ...addSpending(now, before), open: Math.max(0, now.open) }
  }

  /** Starts a new window when the current one is over. What is open stays. */
  private roll(windows: Windows): void {
    const age = this.clock.now() - windows.start
    if (age >= 0 && age < windowMs) return
    const { open } = windows.now
    windows.before = age >= 0 && age < 2 * windowMs ? windows.now : noSpending()
    windows.now = { ...noSpending(), open }
    windows.start = this.clock.now()
  }
}

/** Returns the place of a client in the order of the console, as a number of requests. */
export const weightOf = ({ requests, work, bytes, open }: Spending): number =>
  requests + work / workMsPerRequest + bytes / bytesPerRequest + open
