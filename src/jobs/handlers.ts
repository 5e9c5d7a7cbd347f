import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { lazy } from '../kernel/lazy.ts'
import type { Handler, JobRun, Outcome } from './handler.ts'
import type { Queue } from './tables.ts'

interface CheckedHandler {
  restarts: number
  run(run: JobRun<unknown, unknown>): Promise<Outcome>
  compensate?: Handler['compensate']
}

/** Registered handlers by job kind. Each is loaded with its first job. */
export class Handlers {
  private readonly byKind = new Map<string, { queue: Queue; load: () => Promise<CheckedHandler> }>()

  /** Registers a handler. Jobs whose stored input does not match its schema fail. */
  add<Input extends TSchema, Data extends TSchema>(
    kind: string,
    queue: Queue,
    load: () => Promise<Handler<Input, Data>>,
  ): void {
    this.byKind.set(kind, { queue, load: lazy(async () => withChecks(kind, await load())) })
  }

  async find(kind: string): Promise<CheckedHandler | undefined> {
    return this.byKind.get(kind)?.load()
  }

  kindsOf(queue: Queue): string[] {
    return [...this.byKind].flatMap(([kind, registered]) =>
      registered.queue === queue ? [kind] : [],
    )
  }
}

function withChecks<Input extends TSchema, Data extends TSchema>(
  kind: string,
  handler: Handler<Input, Data>,
): CheckedHandler {
  const { restarts = 1, compensate } = handler
  return {
    restarts,
    compensate,
    run: (run) => {
      const { input, data } = run
      if (!Value.Check(handler.input, input)) throw new Error(`The input of a ${kind} is invalid.`)
      const resumed = data !== null && Value.Check(handler.data, data) ? data : null
      return handler.run({ ...run, input, data: resumed })
    },
  }
}
