import { newId } from '../ids.ts'
import { Cache } from '../lazy.ts'
import type { Log } from '../log.ts'
import { messageOf } from '../text.ts'
import { type Clock, monotonic, second } from '../time.ts'
import type { Engine } from './engine.ts'

/** Kinds of changes that other processes of the database must learn of. */
type Topic =
  | 'access'
  | 'apps'
  | 'documents'
  | 'failures'
  | 'job'
  | 'jobs'
  | 'keys'
  | 'notes'
  | 'prices'
  | 'queries'
  | 'restrictions'
  | 'rooms'
  | 'results'
  | 'settings'

/** Receives a changed value. Undefined means that any value may have changed. */
type Listener = (value: string | undefined) => void

const echoMs = second
/** The time without an own signal after which the channel counts as broken. */
const silentMs = 4 * second
const outboxMax = 10_000

/**
 * Signals of changes between the processes of a PostgreSQL database, by LISTEN and NOTIFY on a
 * connection of its own. They only speed up what a process reads anyway: while the channel is
 * broken, all listeners are called once a second, and once when it is back. A SQLite database has
 * one process, so it does nothing there.
 */
export class Signals {
  private readonly id = newId()
  private readonly listeners = new Map<string, Set<Listener>>()
  private readonly outbox = new Set<string>()
  private readonly longValues = new LongValues()
  private next: Promise<void> | undefined
  private last: Promise<void> = Promise.resolve()
  private unlisten: (() => Promise<void>) | undefined
  private timer: Timer | undefined
  private echoedAt = -Infinity
  private isClosed = false

  constructor(private readonly ctx: { db: Engine; log: Log; clock: Clock }) {}

  /** Returns whether the changes of other processes arrive at once. */
  get isLive(): boolean {
    return monotonic(this.ctx.clock) - this.echoedAt < silentMs
  }

  /** Calls `listener` for changes by other processes. Returns the function that ends it. */
  on(topic: Topic, listener: Listener): () => void {
    const all = this.listeners.get(topic) ?? new Set()
    this.listeners.set(topic, all.add(listener))
    return () => void all.delete(listener)
  }

  /** Runs `work` for changes by other processes, and logs its errors. */
  follow(topic: Topic, work: () => Promise<unknown>): void {
    this.on(topic, () => {
      work().catch((error: unknown) => this.ctx.log.error(`signals.${topic}`, error))
    })
  }

  /**
   * Tells the other processes of a committed change. Resolves when the database has taken it. A
   * failure is logged, because the others read the change later.
   */
  send(topic: Topic, value = ''): Promise<void> | undefined {
    return this.ctx.db.channel && this.post(topic, value)
  }

  /** Starts to listen, without waiting for the database. */
  start(): void {
    if (!this.ctx.db.channel) return
    void this.listen()
    this.timer = setInterval(() => {
      if (!this.isLive) this.callAll()
      void this.post('echo', '')
    }, echoMs)
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearInterval(this.timer)
    await this.next
    await this.last
    await this.unlisten?.()
  }

  private post(topic: string, value: string): Promise<void> {
    if (value.length > valueCharsMax) {
      this.ctx.log.warn('signals.too_long', { topic, chars: value.length })
      return Promise.resolve()
    }
    const entries = toEntries(topic, value)
    if (this.outbox.size + entries.length <= outboxMax) {
      for (const entry of entries) this.outbox.add(entry)
    }
    return (this.next ??= this.publishNext())
  }

  /** Publishes what was posted while the batch before it was on its way. */
  private async publishNext(): Promise<void> {
    await this.last
    this.next = undefined
    this.last = this.publish(this.payloads()).catch((error: unknown) => {
      if (!this.isClosed) this.ctx.log.warn('signals.not_sent', { why: messageOf(error) })
    })
    await this.last
  }

  private async publish(payloads: string[]): Promise<void> {
    await this.ctx.db.channel?.publish(payloads)
  }

  /** Empties the outbox into payloads of bounded size: the id of this sender, then a list. */
  private payloads(): string[] {
    const payloads: string[] = []
    let chars = payloadCharsMax
    for (const text of this.outbox) {
      chars += text.length + 1
      if (chars > payloadCharsMax) {
        payloads.push(`${this.id} ${text}`)
        chars = text.length
      } else payloads.push(`${payloads.pop()},${text}`)
    }
    this.outbox.clear()
    return payloads
  }

  private async listen(): Promise<void> {
    while (!this.isClosed && !this.unlisten) {
      try {
        // A reconnected channel has missed signals.
        this.unlisten = await this.ctx.db.channel?.listen(
          (payload) => this.receive(payload),
          () => this.callAll(),
        )
        if (!this.unlisten) return
      } catch (error) {
        this.ctx.log.warn('signals.not_listening', { why: messageOf(error) })
        await Bun.sleep(echoMs)
      }
    }
    if (this.isClosed) await this.unlisten?.()
  }

  private receive(payload: string): void {
    const at = payload.indexOf(' ')
    if (payload.slice(0, at) === this.id) {
      this.echoedAt = monotonic(this.ctx.clock)
      return
    }
    const list: [string, string][] = JSON.parse(`[${payload.slice(at + 1)}]`)
    for (const [topic, value] of list) {
      const whole = topic === partTopic ? this.longValues.add(value) : { topic, value }
      if (whole) this.call(whole.topic, whole.value)
    }
  }

  private callAll(): void {
    for (const topic of this.listeners.keys()) this.call(topic, undefined)
  }

  private call(topic: string, value: string | undefined): void {
    if (this.isClosed) return
    for (const listener of this.listeners.get(topic) ?? []) listener(value)
  }
}

/** Longer values are not sent. */
export const valueCharsMax = 200_000
/** PostgreSQL accepts 8,000 bytes in a notification. */
const payloadCharsMax = 1_900
/** A character has at most six bytes in JSON. */
const partCharsMax = 1_200
/** Values of which a part is missing. The parts of a value arrive together. */
const unfinishedMax = 16

const partTopic = 'part'

/**
 * Returns a signal as JSON entries that fit into a notification each. A server of an older version
 * ignores the topic of parts.
 */
function toEntries(topic: string, value: string): string[] {
  const whole = JSON.stringify([topic, value])
  if (whole.length < payloadCharsMax) return [whole]
  const id = newId()
  const count = Math.ceil(value.length / partCharsMax)
  return Array.from({ length: count }, (_, at) => {
    const text = value.slice(at * partCharsMax, (at + 1) * partCharsMax)
    return JSON.stringify([partTopic, `${id} ${at} ${count} ${topic} ${text}`])
  })
}

/** The parts of long values that have arrived. */
class LongValues {
  private readonly unfinished = new Cache<{ text: string; parts: number }>(unfinishedMax)

  /** Adds a part. Returns the signal once it is complete. */
  add(part: string): { topic: string; value: string } | undefined {
    const [, id = '', at, count, topic = '', text = ''] =
      /^(\S+) (\d+) (\d+) (\S+) ([^]*)$/.exec(part) ?? []
    const before = this.unfinished.get(id) ?? { text: '', parts: 0 }
    // A server that began to listen between two parts has missed the first.
    if (before.parts !== Number(at)) return undefined
    const value = before.text + text
    if (before.parts + 1 < Number(count)) {
      this.unfinished.set(id, { text: value, parts: before.parts + 1 })
      return undefined
    }
    this.unfinished.delete(id)
    return { topic, value }
  }
}
