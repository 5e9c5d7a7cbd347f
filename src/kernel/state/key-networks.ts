/** Limit of remembered networks. Further ones are not recorded on that day. */
const networksMax = 20_000

/** A network from which a key of an agent was used on a UTC day. */
export interface KeyNetwork {
  agent: string
  /** An IPv4 /24 or an IPv6 /56. */
  prefix: string
  day: string
}

/** Networks of agents on the current day. Each is written to the database once a day. */
export class KeyNetworks {
  private day = ''
  private known = new Map<string, KeyNetwork>()
  private pending: KeyNetwork[] = []

  add(network: KeyNetwork): void {
    if (network.day !== this.day) this.known.clear()
    this.day = network.day
    const key = nameOf(network.agent, network.prefix)
    if (this.known.has(key) || this.known.size >= networksMax) return
    this.known.set(key, network)
    this.pending.push(network)
  }

  /** Returns whether an agent used this network today. */
  has(agent: string, prefix: string): boolean {
    return this.known.has(nameOf(agent, prefix))
  }

  /** Returns the networks that are not written yet, and forgets that they are pending. */
  takePending(): KeyNetwork[] {
    const all = this.pending
    this.pending = []
    return all
  }
}

const nameOf = (agent: string, prefix: string): string => `${agent} ${prefix}`
