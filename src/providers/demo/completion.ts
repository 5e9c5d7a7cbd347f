import { eventStreamResponse } from '../response.ts'

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** What the demo says: its thoughts and its words by token, or one call of a tool. */
export interface DemoChoice {
  thoughts: string[]
  words: string[]
  tool: ToolCall | undefined
  finish: 'stop' | 'length' | 'tool_calls'
}

export interface DemoUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number }
  completion_tokens_details: { reasoning_tokens: number }
}

/** One answer, before it is written whole or in chunks. */
export interface DemoCompletion {
  id: string
  created: number
  model: string
  choices: DemoChoice[]
  usage: DemoUsage
  /** `top_logprobs`, where logprobs are wanted. */
  tops: number | undefined
}

/** The demo is sure of every token: there is no other that it might have said. */
const logprobsOf = (tokens: string[], tops: number) => ({
  content: tokens.map((token) => {
    const sure = { token, logprob: 0, bytes: [...Buffer.from(token)] }
    return { ...sure, top_logprobs: tops > 0 ? [sure] : [] }
  }),
  refusal: null,
})

/** The answer as one JSON. */
export function toCompletion({ id, created, model, choices, usage, tops }: DemoCompletion) {
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: choices.map(({ thoughts, words, tool, finish }, index) => ({
      index,
      message: {
        role: 'assistant',
        content: tool ? null : words.join(''),
        refusal: null,
        ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
        ...(tool && { tool_calls: [tool] }),
      },
      logprobs: tops !== undefined && !tool ? logprobsOf(words, tops) : null,
      finish_reason: finish,
    })),
    usage,
  }
}

/** The answer as server-sent events, one chunk for each token, made only when they are read. */
export function streamCompletion(told: DemoCompletion): Response {
  const events = eventsOf(told)
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

/** The usage always comes in a last chunk of its own, as stream_options.include_usage asks. */
function* eventsOf({
  id,
  created,
  model,
  choices,
  usage,
  tops,
}: DemoCompletion): Generator<string> {
  const head = { id, object: 'chat.completion.chunk', created, model }
  for (const [index, said] of choices.entries()) {
    for (const { delta, token, finish } of deltasOf(said)) {
      const isSure = tops !== undefined && token !== undefined
      const logprobs = isSure ? logprobsOf([token], tops) : null
      const choice = { index, delta, logprobs, finish_reason: finish ?? null }
      yield JSON.stringify({ ...head, choices: [choice] })
    }
  }
  yield JSON.stringify({ ...head, choices: [], usage })
  yield '[DONE]'
}

interface Delta {
  delta: Record<string, unknown>
  token?: string
  finish?: string
}

function* deltasOf({ thoughts, words, tool, finish }: DemoChoice): Generator<Delta> {
  yield { delta: { role: 'assistant', content: tool ? null : '' } }
  for (const thought of thoughts) yield { delta: { reasoning_content: thought } }
  for (const token of words) yield { delta: { content: token }, token }
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
