/**
 * A load client in its own process: `bun client.ts` reads a `Plan` as JSON from stdin. It sends
 * requests to its targets alternately and prints a `Turn[]` for each target as JSON.
 */
import { cpuNs, median, type Plan, type Target, type Turn } from './load.ts'

const closed = (): Error => new Error('the server closed the connection')

/** A keep-alive connection that sends the next request after each complete response. */
class Caller {
  #socket: Bun.Socket | undefined
  #head: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  /** Length of the response to each request, once known. */
  readonly #lengths: number[] = []
  readonly #requests: string[]
  #turn: number
  #responseBytes = 0
  #got = 0
  #isClosed = false
  #tail = ''
  #sentAt = 0
  #done: PromiseWithResolvers<void> | undefined
  readonly times: number[] = []
  /** Times to the first bytes of each response. */
  readonly firsts: number[] = []

  /** Each caller starts at another request of the list. */
  constructor(
    readonly target: Target,
    part: number,
  ) {
    this.#requests = [target.request, ...(target.more ?? [])]
    this.#turn = Math.floor(this.#requests.length * part)
  }

  async open(): Promise<void> {
    const { port } = this.target
    this.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        data: (_, bytes) => this.#take(bytes),
        error: (_, error) => this.#done?.reject(error),
        close: () => {
          this.#isClosed = true
          this.#done?.reject(closed())
        },
      },
    })
  }

  /** Sends requests until the moment `until`, at least one. */
  async ask(until: number): Promise<void> {
    let now = performance.now()
    do {
      if (this.#isClosed) throw closed()
      this.#sentAt = now
      this.#done = Promise.withResolvers()
      const at = this.#turn % this.#requests.length
      this.#head = Buffer.alloc(0)
      this.#responseBytes = this.target.isVaried ? 0 : (this.#lengths[at] ?? 0)
      this.#socket?.write(this.#requests[at] ?? '')
      await this.#done.promise
      this.#lengths[at] = this.#responseBytes
      this.#turn += 1
      now = performance.now()
      this.times.push(now - this.#sentAt)
    } while (now < until)
  }

  close(): void {
    this.#socket?.end()
  }

  /**
   * Responses to a request have the same length or are chunked, unless they vary: then each head is
   * parsed, else only the first.
   */
  #take(bytes: Buffer): void {
    if (this.#got === 0) this.firsts.push(performance.now() - this.#sentAt)
    if (this.#responseBytes === 0) {
      this.#head = Buffer.concat([this.#head, bytes])
      this.#responseBytes = lengthOf(this.#head, this.target.status)
    }
    this.#got += bytes.length
    if (!this.#isWhole(bytes)) return
    this.#got = 0
    this.#done?.resolve()
  }

  #isWhole(bytes: Buffer): boolean {
    if (this.#responseBytes === 0) return false
    if (this.#responseBytes !== Infinity) {
      if (this.#got > this.#responseBytes) throw new Error('The responses have different lengths.')
      return this.#got === this.#responseBytes
    }
    this.#tail = (this.#tail + bytes.toString('latin1', Math.max(0, bytes.length - 5))).slice(-5)
    return this.#tail === '0\r\n\r\n'
  }
}

/** Returns the length of a response: 0 while unknown, Infinity if chunked. */
function lengthOf(start: Buffer, status: number): number {
  const end = start.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const head = start.subarray(0, end).toString()
  if (!head.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`not ${status}: ${head}`)
  if (/transfer-encoding: *chunked/i.test(head)) return Infinity
  const body = status === 304 ? 0 : Number(/content-length: *(\d+)/i.exec(head)?.[1])
  return end + 4 + body
}

async function turn(callers: Caller[], { pid }: Target, ms: number): Promise<Turn> {
  const cpuBefore = cpuNs(pid)
  const started = performance.now()
  await Promise.all(callers.map((caller) => caller.ask(started + ms)))
  const took = performance.now() - started
  const cpuUs = (cpuNs(pid) - cpuBefore) / 1_000
  const times = callers.flatMap((caller) => caller.times.splice(0))
  const firsts = callers.flatMap((caller) => caller.firsts.splice(0))
  return { responses: times.length, ms: took, cpuUs, p50: median(times), firstP50: median(firsts) }
}

const plan: Plan = await Bun.stdin.json()
const teams = plan.targets.map((target) => ({
  target,
  turns: new Array<Turn>(),
  callers: Array.from(
    { length: plan.connections },
    (_, at) => new Caller(target, at / plan.connections),
  ),
}))
for (const { callers } of teams) await Promise.all(callers.map((caller) => caller.open()))
for (let round = -1; round < plan.rounds; round += 1) {
  for (const { callers, target, turns } of teams) {
    const done = await turn(callers, target, plan.turnMs)
    // The first round is the warm-up.
    if (round >= 0) turns.push(done)
  }
}
for (const { callers } of teams) callers.forEach((caller) => caller.close())
console.log(JSON.stringify(teams.map(({ turns }) => turns)))
process.exit(0)
