/** Work on things of a page, such as documents, one after another. */
export interface Turns {
  /** Sends an input, as it is now, after all that was begun on the same things. */
  send<Input, Result>(
    things: readonly string[],
    input: Input,
    send: (input: Input) => Promise<Result>,
  ): Promise<Result>
  /** Resolves when all that was begun has ended. */
  settled(): Promise<void>
}

/**
 * Pages write without waiting: `set(1)`, `set(2)`. Requests overtake each other, so the last one of
 * the page would not always be the last one at the server.
 */
export function createTurns(): Turns {
  const last = new Map<string, Promise<void>>()
  return {
    async send(things, input, send) {
      const before = things.flatMap((thing) => last.get(thing) ?? [])
      const copy = before.length === 0 ? input : structuredClone(input)
      const running = before.length === 0 ? send(input) : Promise.all(before).then(() => send(copy))
      const nothing = (): void => undefined
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
