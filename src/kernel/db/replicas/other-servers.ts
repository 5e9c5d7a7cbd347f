import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { second } from '../../time.ts'
import type { Engine } from '../engine.ts'
import type { Signals } from '../signals.ts'
import { listOtherProcesses, thisProcess } from './presence.ts'

/** A server that needs longer counts as silent. */
const resultWaitMs = second
/** Queries of others that this process works on. Further ones have no result. */
const runningMax = 100

/** Computes the result of a query of another server; undefined for an unknown query. */
export type QueryHandler = (name: string, input: string) => Promise<string | undefined>

export interface QueryResults {
  results: string[]
  /** Servers without a result in time. */
  silent: number
}

/**
 * Queries to the other servers of a PostgreSQL database about their memory, sent as signals
 * (docs/decisions/0087). Nothing is sent without queries. SQLite has one server.
 */
export class OtherServers {
  /** Answers queries of others. server/http/background-work.ts registers it. */
  handler: QueryHandler | undefined
  private readonly waiting = new Map<string, (process: string, result: string) => void>()
  private running = 0

  constructor(
    private readonly ctx: { db: Engine; log: Log; signals: Signals },
    /** The name of this server in the console: "berth-1:3000". */
    readonly ownName: string,
    private readonly process = thisProcess,
  ) {
    ctx.signals.on('queries', (text) => text !== undefined && void this.respond(text))
    ctx.signals.on('results', (text) => text !== undefined && this.receive(text))
  }

  /** Sends a query to all servers that live, and waits for their results. */
  async query(name: string, input: string): Promise<QueryResults> {
    const { db, signals } = this.ctx
    const others = new Set(await listOtherProcesses(db.read))
    if (others.size === 0 || !signals.isLive) return { results: [], silent: others.size }
    const id = newId()
    const results: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    this.waiting.set(id, (process, result) => {
      if (others.delete(process)) results.push(result)
      if (others.size === 0) resolve()
    })
    const timer = setTimeout(resolve, resultWaitMs)
    void signals.send('queries', `${id} ${name} ${input}`)
    await promise
    clearTimeout(timer)
    this.waiting.delete(id)
    return { results, silent: others.size }
  }

  private async respond(text: string): Promise<void> {
    const [id, name, input] = fieldsOf(text)
    if (!this.handler || this.running >= runningMax) return
    this.running += 1
    try {
      const result = await this.handler(name, input)
      if (result !== undefined) {
        await this.ctx.signals.send('results', `${id} ${this.process} ${result}`)
      }
    } catch (error) {
      this.ctx.log.error('servers.query', error, { name })
    } finally {
      this.running -= 1
    }
  }

  private receive(text: string): void {
    const [id, process, result] = fieldsOf(text)
    this.waiting.get(id)?.(process, result)
  }
}

/** Splits a text at its first two spaces. */
function fieldsOf(text: string): [id: string, name: string, rest: string] {
  const [id = '', name = ''] = text.split(' ', 2)
  return [id, name, text.slice(id.length + name.length + 2)]
}
