import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { orNull } from '../core/schema.ts'
import { second, stopwatch } from '../core/time.ts'
import type { Arguments } from './call.ts'

/** What is looked at of a job (get_job). */
const Answer = Type.Object({
  job: Type.Object({
    progress: Type.Number(),
    step: orNull(Type.String()),
    ended: orNull(Type.String()),
  }),
})

/** What changes between two asks would otherwise go unheard until the next change. */
const askSeconds = 2

/**
 * Asks for a job with `wait`. Who wants to hear of progress is told each change, and answered when
 * the job has ended or the wait is over; who does not is answered at the first change.
 */
export async function waiting(
  given: Arguments,
  { mcpReq }: ServerContext,
  ask: (given: Arguments) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken
  const seconds = Number(given['wait'])
  if (progressToken === undefined || !(seconds > 0)) return ask(given)
  const until = stopwatch() + seconds * second
  let told = -1
  for (;;) {
    const left = Math.max(0, Math.round((until - stopwatch()) / second))
    const result = await ask({ ...given, wait: Math.min(left, askSeconds) })
    const { structuredContent: answer } = result
    if (left === 0 || mcpReq.signal.aborted) return result
    if (!Value.Check(Answer, answer) || answer.job.ended !== null) return result
    const { progress, step } = answer.job
    // The protocol's progress only grows.
    if (progress <= told) continue
    told = progress
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: 1, ...(step && { message: step }) },
    })
  }
}
