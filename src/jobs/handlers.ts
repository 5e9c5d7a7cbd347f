import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Handler, JobRun, Outcome } from './handler.ts'
import type { Queue } from './tables.ts'

interface CheckedHandler {
  queue: Queue
  restarts: number
  run(run: JobRun<unknown, unknown>): Promise<Outcome>
  compensate?: Handler['compensate']
}

/** Registered handlers by job kind. */
export class Handlers {
  private readonly byKind = new Map<string, CheckedHandler>()

  /** Registers a handler. Jobs whose stored input does not match its schema fail. */
  add<Input extends TSchema, Data extends TSchema>(
    kind: string,
    handler: Handler<Input, Data>,
  ): void {
    const { queue, restarts = 1, compensate } = handler
    this.byKind.set(kind, {
      queue,
      restarts,
      compensate,
      run: (run) => {
        const { input, data } = run
        if (!Value.Check(handler.input, input))
          throw new Error(`The input of a ${kind} is invalid.`)
        const resumed = data !== null && Value.Check(handler.data, data) ? data : null
        return handler.run({ ...run, input, data: resumed })
      },
    })
  }

  find(kind: string): CheckedHandler | undefined {
    return this.byKind.get(kind)
  }

  kindsOf(queue: Queue): string[] {
    return [...this.byKind].flatMap(([kind, handler]) => (handler.queue === queue ? [kind] : []))
  }
}
