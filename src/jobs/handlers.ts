import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Handler, Outcome, JobRun } from './handler.ts'
import type { Queue } from './tables.ts'

/** A handler whose shapes have been checked and forgotten. */
interface Kind {
  queue: Queue
  restarts: number
  run(work: JobRun<unknown, unknown>): Promise<Outcome>
  compensate?: Handler['compensate']
}

/** Every kind of work that is known here. */
export class Kinds {
  private readonly byName = new Map<string, Kind>()

  /** How jobs of a kind are done. A row whose input fits no more is a fault, and fails. */
  add<Input extends TSchema, Data extends TSchema>(
    kind: string,
    handler: Handler<Input, Data>,
  ): void {
    const { queue: lane, restarts = 1, compensate: undone } = handler
    this.byName.set(kind, {
      queue: lane,
      restarts,
      compensate: undone,
      run: (work) => {
        const { input, data } = work
        if (!Value.Check(handler.input, input)) throw new Error(`The input of a ${kind} is none.`)
        const known = data !== null && Value.Check(handler.data, data) ? data : null
        return handler.run({ ...work, input, data: known })
      },
    })
  }

  find(name: string): Kind | undefined {
    return this.byName.get(name)
  }

  /** The names of the kinds of a lane. */
  of(lane: Queue): string[] {
    return [...this.byName].flatMap(([name, kind]) => (kind.queue === lane ? [name] : []))
  }
}
