import { CallError } from './protocol.ts'

/** Calls about things of a page, such as documents, one after another. */
export interface WriteOrder {
  /**
   * Sends an input, as it is now, after all that was begun on the same things. Throws
   * `too_many_calls` where too many wait already.
   */
  send<Input, Result>(
    things: readonly string[],
    input: Input,
    send: (input: Input) => Promise<Result>,
  ): Promise<Result>
  /** Resolves when all that was begun has ended. */
  settled(): Promise<void>
}

const waitingMax = 128
const nothing = (): void => undefined

/**
 * Pages write without waiting: `set(1)`, `set(2)`. Requests overtake each other, so the last one of
 * the page would not always be the last one at the server.
 */
export function createWriteOrder(): WriteOrder {
  const last = new Map<string, Promise<void>>()
  let waiting = 0
  return {
    async send(things, input, send) {
      const before = things.flatMap((thing) => last.get(thing) ?? [])
      const isFirst = before.length === 0
      if (!isFirst && waiting >= waitingMax) {
        const message = `At most ${waitingMax} calls wait for others. Await them.`
        throw new CallError('too_many_calls', message)
      }
      const sent = isFirst ? input : structuredClone(input)
      waiting += isFirst ? 0 : 1
      const running = isFirst
        ? send(sent)
        : Promise.all(before).then(() => {
            waiting -= 1
            return send(sent)
          })
      const ended = running.then(nothing, nothing)
      for (const thing of things) {
        last.set(thing, ended)
        void ended.then(() => last.get(thing) === ended && last.delete(thing))
      }
      return running
    },
    settled: async () => void (await Promise.all(last.values())),
  }
}
