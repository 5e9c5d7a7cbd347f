import { CallError, withPlainData } from './protocol.ts'

/** Calls of a page, of which those for one key follow each other. A key is a path or a name. */
export interface WriteOrder {
  /**
   * Sends an input, as it is now, after all earlier calls for the same keys. Throws
   * `too_many_calls` where too many wait already, and `bad_request`.
   */
  send<Input, Result>(
    keys: readonly string[],
    input: Input,
    send: (input: Input) => Promise<Result>,
  ): Promise<Result>
  /** Resolves when all earlier calls have ended. */
  settled(): Promise<void>
}

const waitingMax = 128
const ignore = (): void => undefined

/**
 * Pages write without waiting: `set(1)`, `set(2)`. Requests overtake each other, so the last one of
 * the page would not always be the last one at the server.
 */
export function createWriteOrder(): WriteOrder {
  const last = new Map<string, Promise<void>>()
  let waiting = 0
  return {
    async send(keys, input, send) {
      const before = keys.flatMap((key) => last.get(key) ?? [])
      const isFirst = before.length === 0
      if (!isFirst && waiting >= waitingMax) {
        const message = `At most ${waitingMax} calls wait for others. Await them.`
        throw new CallError('too_many_calls', message)
      }
      const sent = isFirst ? input : withPlainData(() => structuredClone(input))
      waiting += isFirst ? 0 : 1
      const running = isFirst
        ? send(sent)
        : Promise.all(before).then(() => {
            waiting -= 1
            return send(sent)
          })
      const ended = running.then(ignore, ignore)
      for (const key of keys) {
        last.set(key, ended)
        void ended.then(() => last.get(key) === ended && last.delete(key))
      }
      return running
    },
    settled: async () => void (await Promise.all(last.values())),
  }
}
