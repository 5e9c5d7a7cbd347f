import { type NanoUsd, toUsd, zero } from '../../kernel/money.ts'
import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { ModelCall } from '../../kernel/telemetry/instruments.ts'
import type { Attributes } from '../../kernel/telemetry/otlp.ts'
import type { Model } from '../models/catalog.ts'
import { createUsage, type Usage } from '../models/usage.ts'
import type { Attempt } from '../providers/measurements.ts'
import type { Candidate } from './candidates.ts'
import type { PaidCall } from './paid-call.ts'

/** An attempt that has ended, for its span and its metrics. */
interface EndedAttempt {
  candidate: Candidate
  attempt: Attempt
  usage?: Usage
  charge?: NanoUsd
  /** The name of the error; undefined for a success. */
  error?: string | undefined
  /** The completion, or the text of a stream. */
  output?: unknown
}

const operations: Record<Model['type'], ModelCall['operation']> = {
  chat: 'chat',
  embedding: 'embeddings',
  image: 'generate_content',
  video: 'generate_content',
  audio: 'generate_content',
  moderation: 'generate_content',
  rerank: 'generate_content',
  realtime: 'chat',
}

/** Characters of a prompt or a response in a span. */
const contentCharsMax = 32_768

/** Records an attempt for the console, and for the collector where the operator has one. */
export function reportAttempt(
  { ctx: { telemetry, state }, span, requestId, requested }: PaidCall,
  { candidate, attempt, usage = createUsage({}), charge = zero, error, output }: EndedAttempt,
): void {
  const { model, offer } = candidate
  state.observations.addAttempt({ model: model.id, upstream: offer.upstream }, attempt)
  if (!telemetry) return
  telemetry.recordCall(span, {
    operation: operations[model.type],
    upstream: offer.upstream,
    upstreamModel: offer.model,
    model: model.id,
    requestId,
    ms: attempt.ms,
    firstByteMs: attempt.firstByte ?? null,
    inputTokens: usage.prompt,
    cachedTokens: usage.cached,
    outputTokens: usage.completion,
    reasoningTokens: usage.reasoning,
    cost: toUsd(charge),
    error,
    more: requested
      ? { ...parametersOf(requested), ...(telemetry.hasContent && contentsOf(requested, output)) }
      : {},
  })
}

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined

const parametersOf = (body: Json): Attributes => ({
  'gen_ai.request.max_tokens': numberOf(body.max_completion_tokens ?? body.max_tokens),
  'gen_ai.request.temperature': numberOf(body.temperature),
  'gen_ai.request.top_p': numberOf(body.top_p),
  'gen_ai.request.stream': body.stream === true ? true : undefined,
})

/** Returns the messages in the form of the semantic conventions, without media, and bounded. */
function contentsOf(body: Json, output: unknown): Attributes {
  const messages = itemsOf(body.messages).filter(isRecord).map(toMessage)
  const replies =
    typeof output === 'string'
      ? [{ role: 'assistant', parts: [{ type: 'text', content: output }] }]
      : itemsOf(recordOf(output).choices)
          .filter(isRecord)
          .map((choice) => {
            const message = toMessage(recordOf(choice.message))
            return { ...message, finish_reason: choice.finish_reason }
          })
  return {
    'gen_ai.input.messages': toText(messages),
    'gen_ai.output.messages': replies.length > 0 ? toText(replies) : undefined,
  }
}

/** Returns JSON. A long conversation loses its oldest messages, and a long message its end. */
function toText(messages: object[]): string {
  const newest: string[] = []
  let chars = 0
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message)
    chars += text.length + 1
    if (chars > contentCharsMax && newest.length > 0) break
    newest.push(text)
  }
  return `[${newest.toReversed().join(',')}]`.slice(0, contentCharsMax)
}

function toMessage({ role, content, tool_calls, tool_call_id }: Json) {
  const texts = typeof content === 'string' ? [content] : itemsOf(content).flatMap(textOf)
  const parts = texts.map((text): object =>
    role === 'tool'
      ? { type: 'tool_call_response', id: tool_call_id, response: text }
      : { type: 'text', content: text },
  )
  const calls = itemsOf(tool_calls)
    .filter(isRecord)
    .map((call) => {
      const { name, arguments: given } = recordOf(call.function)
      return { type: 'tool_call', id: call.id, name, arguments: given }
    })
  return { role: role ?? 'assistant', parts: [...parts, ...calls] }
}

const textOf = (part: unknown): string[] => {
  const { text } = recordOf(part)
  return typeof text === 'string' ? [text] : []
}
