import { isRecord, type Json, pickFields, recordOf } from '../../kernel/schema.ts'
import { textOf } from '../chat/completion.ts'
import { countBytesBeside, type EventConverter, type NativeChat } from '../chat/native-chat.ts'
import { asString, parseRecord, recordsIn } from '../providers/response.ts'

/** Fields that cost nothing beside the tokens; `priority` is that of the operator's account. */
export const nativeFields = new Set([
  'citation_options',
  'documents',
  'frequency_penalty',
  'k',
  'max_tokens',
  'messages',
  'p',
  'presence_penalty',
  'response_format',
  'safety_mode',
  'seed',
  'stop_sequences',
  'stream',
  'strict_tools',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
])

/**
 * Returns a request of Cohere's chat API for upstreams of Cohere: unchanged, except for what would
 * cost more than the hold covers. `raw` was parsed into a chat before.
 */
export function toNativeCohere(raw: unknown): NativeChat {
  const own = pickFields(recordOf(raw), nativeFields)
  return {
    kind: 'cohere',
    request: {
      build: (model, limit) => ({
        path: '/chat',
        body: { ...own, model, ...(limit !== undefined && { max_tokens: limit }) },
      }),
    },
    usageName: 'usage',
    countBytes: () => countBytesBeside(imagesOf(own), own),
    toCompletion,
    createConverter,
  }
}

const imagesOf = ({ messages }: Json): unknown[] =>
  recordsIn(messages)
    .flatMap(({ content }) => recordsIn(content))
    .map(({ image_url }) => recordOf(image_url).url)

const finishOf = (reason: unknown): string => (reason === 'MAX_TOKENS' ? 'length' : 'stop')

function toCompletion({ message, finish_reason, usage }: Json): Json {
  const { content, tool_plan, tool_calls } = recordOf(message)
  const converted = {
    content: asString(tool_plan) + textOf(content),
    reasoning_content: recordsIn(content)
      .map(({ thinking }) => asString(thinking))
      .join(''),
    tool_calls,
  }
  const choices = [{ index: 0, message: converted, finish_reason: finishOf(finish_reason) }]
  return { choices, usage: toChatUsage(usage) }
}

/** Converts the tokens that Cohere bills, without those that its own template adds. */
function toChatUsage(usage: unknown): Json | undefined {
  const { billed_units, tokens } = recordOf(usage)
  const counts = isRecord(billed_units) ? billed_units : tokens
  if (!isRecord(counts)) return undefined
  return { prompt_tokens: counts.input_tokens, completion_tokens: counts.output_tokens }
}

/** Creates the converter of one stream. It ends after `message-end`, with or without `[DONE]`. */
function createConverter(): EventConverter {
  let isEnded = false
  return {
    read(data) {
      const event = parseRecord(data)
      // [DONE] ends the stream, other text that is no JSON breaks it off.
      if (!event) return data
      const { type, delta: raw } = event
      const delta = recordOf(raw)
      if (type === 'message-end') {
        if (isFailed(delta)) return JSON.stringify({ error: { message: delta.error } })
        isEnded = true
        const choice = { index: 0, delta: {}, finish_reason: finishOf(delta.finish_reason) }
        return JSON.stringify({ choices: [choice], usage: toChatUsage(delta.usage) })
      }
      const content = contentOf(recordOf(delta.message))
      return content && JSON.stringify({ choices: [{ index: 0, delta: content }] })
    },
    end: () => (isEnded ? '[DONE]' : undefined),
  }
}

const isFailed = ({ finish_reason: reason, error }: Json): boolean =>
  reason === 'ERROR' || reason === 'TIMEOUT' || typeof error === 'string'

/** Returns the content of an event; undefined for one without content. */
function contentOf({ content, tool_plan, tool_calls }: Json): Json | undefined {
  const { text, thinking } = recordOf(content)
  const spoken = asString(text) + asString(tool_plan)
  if (spoken) return { content: spoken }
  if (thinking) return { reasoning_content: thinking }
  return isRecord(tool_calls) ? { tool_calls: [tool_calls] } : undefined
}
