import type { AppContext } from '../../context.ts'

/** Reports of all servers that responded. */
export interface Collected<Value> {
  /** That of the server itself first, then those of the others by name. */
  reports: { server: string; value: Value }[]
  /** Servers whose report is missing. */
  silent: number
}

/**
 * A part of the memory of one server that the console of every server shows. Reports are JSON.
 * During an upgrade servers of two versions exchange them, so a report of another form needs
 * another name.
 */
export class ServerReport<Input, Value> {
  constructor(
    readonly name: string,
    private readonly read: (ctx: AppContext, input: Input) => Value | Promise<Value>,
  ) {}

  /** Returns the report of this server for another one. */
  async respond(ctx: AppContext, input: string): Promise<string> {
    const parsed: Input = JSON.parse(input)
    return JSON.stringify([ctx.otherServers.ownName, await this.read(ctx, parsed)])
  }

  /** Returns the reports of all servers. */
  async collect(ctx: AppContext, input: Input): Promise<Collected<Value>> {
    const [own, { results, silent }] = await Promise.all([
      this.read(ctx, input),
      ctx.otherServers.query(this.name, JSON.stringify(input)),
    ])
    const others = results.map((result) => {
      const [server, value]: [string, Value] = JSON.parse(result)
      return { server, value }
    })
    others.sort((a, b) => (a.server < b.server ? -1 : 1))
    return { reports: [{ server: ctx.otherServers.ownName, value: own }, ...others], silent }
  }
}
