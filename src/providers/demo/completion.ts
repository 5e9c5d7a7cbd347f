import type { Json } from '../../core/schema.ts'
import { eventStreamResponse } from '../response.ts'

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** One choice: reasoning and text by token, or one tool call. */
export interface DemoChoice {
  thoughts: string[]
  words: string[]
  tool: ToolCall | undefined
  finish: 'stop' | 'length' | 'tool_calls'
  /** Is true when the words say why the model declined, which is free. */
  isDeclined?: boolean
}

/** A completion before it is serialized, whole or as chunks. */
export interface DemoCompletion {
  id: string
  created: number
  model: string
  choices: DemoChoice[]
  usage: Json
  /** `top_logprobs`; undefined without logprobs. */
  tops: number | undefined
}

/** Returns logprobs of 0: every token of the demo is certain, without alternatives. */
const logprobsOf = (tokens: string[], tops: number) => ({
  content: tokens.map((token) => {
    const certain = { token, logprob: 0, bytes: [...Buffer.from(token)] }
    return { ...certain, top_logprobs: tops > 0 ? [certain] : [] }
  }),
  refusal: null,
})

/** Serializes a chat.completion. */
export function toCompletion({ id, created, model, choices, usage, tops }: DemoCompletion) {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(({ thoughts, words, tool, finish, isDeclined }, index) => ({
      index,
      message: {
        role: 'assistant',
        content: tool || isDeclined ? null : words.join(''),
        refusal: isDeclined ? words.join('') : null,
        ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
        ...(tool && { tool_calls: [tool] }),
      },
      logprobs: tops !== undefined && !tool ? logprobsOf(words, tops) : null,
      finish_reason: finish,
    })),
    usage,
  }
}

/** Streams a completion, one chunk per token, each created when it is read. */
export function streamCompletion(completion: DemoCompletion): Response {
  const events = chunksOf(completion)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`data: ${value}\n\n`))
    },
  })
  return eventStreamResponse(body)
}

/** Yields the chunks; the last one has the usage, as with stream_options.include_usage. */
function* chunksOf({
  id,
  created,
  model,
  choices,
  usage,
  tops,
}: DemoCompletion): Generator<string> {
  const head = { id, object: 'chat.completion.chunk', created, model }
  for (const [index, choice] of choices.entries()) {
    for (const { delta, token, finish } of deltasOf(choice)) {
      const hasLogprobs = tops !== undefined && token !== undefined
      const logprobs = hasLogprobs ? logprobsOf([token], tops) : null
      const choices = [{ index, delta, logprobs, finish_reason: finish ?? null }]
      yield JSON.stringify({ ...head, choices })
    }
  }
  yield JSON.stringify({ ...head, choices: [], usage })
  yield '[DONE]'
}

interface Delta {
  delta: Json
  token?: string
  finish?: string
}

function* deltasOf({ thoughts, words, tool, finish, isDeclined }: DemoChoice): Generator<Delta> {
  yield { delta: { role: 'assistant', content: tool ? null : '' } }
  for (const thought of thoughts) yield { delta: { reasoning_content: thought } }
  const field = isDeclined ? 'refusal' : 'content'
  for (const token of words) yield { delta: { [field]: token }, token }
  if (tool) {
    const { id, type, function: called } = tool
    const first = { index: 0, id, type, function: { name: called.name, arguments: '' } }
    yield { delta: { tool_calls: [first] } }
    for (const piece of called.arguments.match(/[^]{1,8}/gu) ?? []) {
      yield { delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } }
    }
  }
  yield { delta: {}, finish }
}
