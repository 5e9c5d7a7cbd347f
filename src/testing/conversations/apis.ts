import { decodeCohere } from '../../gateway/cohere/decode.ts'
import { cohereCodec } from '../../gateway/cohere/encode.ts'
import { createCohereClient } from '../../gateway/cohere/write.ts'
import type { ChatRequest } from '../../gateway/conversation/chat-request.ts'
import type { ClientCodec, UpstreamCodec } from '../../gateway/conversation/codec.ts'
import { decodeGeneration } from '../../gateway/gemini/decode.ts'
import { geminiCodec } from '../../gateway/gemini/encode.ts'
import { createGeminiClient } from '../../gateway/gemini/write.ts'
import { decodeMessages } from '../../gateway/messages-api/decode.ts'
import { messagesCodec } from '../../gateway/messages-api/encode.ts'
import { createMessagesClient } from '../../gateway/messages-api/write.ts'
import { decodeChat } from '../../gateway/openai-chat/decode.ts'
import { createChatCodec } from '../../gateway/openai-chat/encode.ts'
import { familyOf } from '../../gateway/openai-chat/families.ts'
import type { Flavor } from '../../gateway/openai-chat/message.ts'
import { createChatClient } from '../../gateway/openai-chat/write.ts'
import { decodeResponses } from '../../gateway/responses/decode.ts'
import { responsesCodec } from '../../gateway/responses/encode.ts'
import { createResponsesCodec } from '../../gateway/responses/write.ts'
import type { Json } from '../../kernel/schema.ts'

/** OpenAI's chat is here twice: as most servers have it, and as OpenRouter. */
export const apiNames = ['chat', 'openrouter', 'responses', 'messages', 'gemini', 'cohere'] as const
/** Mistral's form of it has short ids and turns of its own, which do not come back as they were. */
export const allNames = [...apiNames, 'mistral'] as const
export type ApiName = (typeof allNames)[number]

/** Both sides of an API. */
interface Api {
  upstream: UpstreamCodec
  /** The model of its upstream: one with all features. */
  model: string
  decode(body: Json): ChatRequest
  client(): ClientCodec
}

const model = 'asked'
const created = 1_700_000_000
const flavored = (flavor: Flavor, host: string): Api => ({
  upstream: createChatCodec({ family: familyOf(host) }),
  model: 'm',
  decode: (body) => decodeChat(body, { developerRole: 'system' }).request,
  client: () => createChatClient({ model, id: 'own', created, wantsUsage: true, flavor }),
})

/** The APIs, as this gateway speaks them to its clients and its upstreams. */
export const apis: Record<ApiName, Api> = {
  chat: flavored('openai', 'http://localhost:8000/v1'),
  openrouter: flavored('openrouter', 'https://openrouter.ai/api/v1'),
  mistral: flavored('mistral', 'https://api.mistral.ai/v1'),
  responses: {
    upstream: responsesCodec,
    model: 'gpt-5',
    decode: (body) =>
      decodeResponses(body, {
        findItem: () => undefined,
        canSearch: false,
        canStore: false,
        before: [],
      }).request,
    client: () =>
      createResponsesCodec({
        echo: {},
        tools: new Map(),
        name: '0'.repeat(32),
        model,
        created,
        onItem: () => undefined,
      }),
  },
  messages: {
    upstream: messagesCodec,
    model: 'claude-opus-4-5',
    decode: (body) => decodeMessages(body).request,
    client: () =>
      createMessagesClient({
        name: 'n',
        model,
        requestId: 'r',
        showsThinking: true,
        stopSequences: [],
        inputTokens: 3,
      }),
  },
  gemini: {
    upstream: geminiCodec,
    model: 'gemini-3-pro',
    decode: (body) => decodeGeneration(body, 'gemini-3-pro', false).request,
    client: () => createGeminiClient({ responseId: 'r', model, showsThoughts: true }),
  },
  cohere: {
    upstream: cohereCodec,
    model: 'command-a',
    decode: (body) => decodeCohere(body).request,
    client: () => createCohereClient('c'),
  },
}

/** Sends a request to an API, and reads it there as that of a client. */
export function through(name: ApiName, request: ChatRequest): ChatRequest {
  const { upstream, model: ownModel, decode } = apis[name]
  const target = { model: ownModel, isStream: false, outputMax: 8_192, stopsItself: false }
  const { body } = upstream.encode(request, target)
  const { raw: _, ...decoded } = decode(JSON.parse(JSON.stringify(body)))
  return decoded
}
