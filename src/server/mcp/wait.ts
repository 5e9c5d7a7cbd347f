import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type Json, nullable } from '../../kernel/schema.ts'
import { second, stopwatch } from '../../kernel/time.ts'

/** The fields of a job (get_job) that decide whether to wait on. */
const JobResponse = Type.Object({
  job: Type.Object({
    progress: Type.Number(),
    step: nullable(Type.String()),
    ended: nullable(Type.String()),
  }),
})

/** A change between two polls is reported by the second one. */
const pollSeconds = 2

/**
 * Calls get_job with `wait`. A client with a progress token gets each change, and the result when
 * the job has ended or the wait is over. Other clients get the result at the first change.
 */
export async function waitForJob(
  args: Json,
  { mcpReq }: ServerContext,
  call: (args: Json) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken
  const seconds = Number(args['wait'])
  if (progressToken === undefined || !(seconds > 0)) return call(args)
  const until = stopwatch() + seconds * second
  let reported = -1
  for (;;) {
    const left = Math.max(0, Math.round((until - stopwatch()) / second))
    const result = await call({ ...args, wait: Math.min(left, pollSeconds) })
    const { structuredContent: content } = result
    if (left === 0 || mcpReq.signal.aborted) return result
    if (!Value.Check(JobResponse, content) || content.job.ended !== null) return result
    const { progress, step } = content.job
    // MCP requires that progress increases.
    if (progress <= reported) continue
    reported = progress
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: 1, ...(step && { message: step }) },
    })
  }
}
