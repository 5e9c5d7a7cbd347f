import type {
  CallPart,
  ChatRequest,
  Message,
  Part,
} from '../../gateway/conversation/chat-request.ts'
import { isMedia } from '../../gateway/conversation/contents.ts'
import type { Json } from '../../kernel/schema.ts'
import type { Can } from './features.ts'

/** Names that an API needs and the client did not send. */
const defaultNames = ['file', 'document.pdf']

/** Google's mark of a call whose signature is not known. */
const unknownSignature = 'skip_thought_signature_validator'

/** Returns the same form of requests that mean the same. */
export function comparable(request: ChatRequest, can: Can): Json {
  const {
    extra: _,
    raw: __,
    messages,
    tools,
    toolChoice,
    outputMax,
    format: form,
    ...others
  } = request
  return {
    ...others,
    // An API may need a limit.
    outputMax: outputMax ?? 8_192,
    toolChoice: tools.length === 0 ? 'auto' : (toolChoice ?? 'auto'),
    tools: tools.map(({ description = '', parameters, isStrict, ...tool }) => ({
      ...tool,
      description,
      parameters: parameters ?? { type: 'object', properties: {} },
      isStrict: isStrict === true,
    })),
    format: form?.type === 'schema' && !can('formatDetails') ? { ...form, isStrict: false } : form,
    messages: merged(messages).map((message) => ({
      ...message,
      content: partsOf(message.content, can).map((one) => {
        if (one.type === 'call' && one.signature === unknownSignature) {
          return { ...one, signature: undefined }
        }
        if (!isMedia(one)) return one
        const { filename, extra: ___, ...rest } = one
        const isNamed = filename !== undefined && !defaultNames.includes(filename)
        return { ...rest, ...(isNamed && can('filename') && { filename }) }
      }),
    })),
  }
}

/** Joins adjacent messages of a role: some APIs require that roles alternate. */
function merged(messages: Message[]): { role: string; content: Part[] }[] {
  const all: { role: string; content: Part[] }[] = []
  for (const { content, extra: _, ...message } of messages) {
    const role = message.role === 'developer' ? 'system' : message.role
    const last = all.at(-1)
    if (last?.role === role && role !== 'tool') last.content.push(...content)
    else if (content.length > 0 || role === 'tool') {
      all.push({ ...message, role, content: [...content] })
    }
  }
  return all
}

/** Returns the position of a kind of part where an API keeps each kind in a field. */
function rankOf(part: Part): number {
  if (part.type === 'text') return part.isDeclined ? 2 : 1
  return part.type === 'thinking' ? 0 : 3
}

/** Returns the parts of a message. Some APIs join adjacent texts, or keep each kind in a field. */
function partsOf(content: Part[], can: Can): Part[] {
  const isOfUser = content.some(isMedia)
  const sorted =
    can('order') || isOfUser ? content : content.toSorted((a, b) => rankOf(a) - rankOf(b))
  const parts: Part[] = []
  for (const one of sorted) {
    const last = parts.at(-1)
    const isNext = one.type === 'text' && last?.type === 'text' && !last.isCached
    if (isNext && last.isDeclined === one.isDeclined) {
      Object.assign(last, { ...one, text: last.text + one.text })
    } else parts.push({ ...one })
  }
  return parts.map((one) =>
    // The white space between joined texts is that of the API.
    one.type === 'text' ? { ...one, text: one.text.replace(/\s+/g, '') } : one,
  )
}

/** Returns arguments as JSON, which most APIs have for the text of a custom tool, too. */
const writtenArguments = ({ arguments: text, isCustom }: CallPart, can: Can): string =>
  isCustom && !can('custom') ? JSON.stringify({ input: text }) : text

/** Returns what a conversation says, of which no API may lose a word. */
export function wordsIn(messages: Message[], can: Can): string[] {
  const words = messages.flatMap(({ content }): string[] =>
    content.flatMap((one): string[] => {
      if (one.type === 'text') return [one.text]
      if (one.type === 'call') return [`${one.name}(${writtenArguments(one, can)})`]
      return one.type === 'thinking' && one.signature === undefined && can('unsigned')
        ? [one.text]
        : []
    }),
  )
  return words
}
