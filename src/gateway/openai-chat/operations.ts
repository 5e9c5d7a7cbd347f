import type { AppContext } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import { type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { createChat } from '../chat/chat.ts'
import { isMistralClient } from '../mistral/client-api.ts'
import { paidOperation } from '../operation.ts'
import { decodeChat, sentNames } from './decode.ts'
import type { Flavor } from './message.ts'
import * as schemas from './schemas.ts'
import { createChatClient } from './write.ts'

/** Differences of a client of the chat API from OpenAI's. */
export interface ChatClientOptions {
  flavor?: Flavor
  /** The id of the response; by default that of the upstream. */
  id?: string
}

/**
 * Creates a chat completion (document 2, POST /chat/completions): checks it, holds its maximum
 * cost, serves it whole or as a stream, and settles it. Throws the errors of section 7.
 */
export const completeChat = (
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  { flavor = 'openai', id = `chatcmpl-${newId()}` }: ChatClientOptions = {},
): Promise<CallOutcome> =>
  createChat(ctx, spender, call, {
    api: 'chat',
    raw,
    names: sentNames(raw),
    open() {
      const developerRole = ctx.config.gatewayDeveloperRole === 'system' ? 'system' : undefined
      const { wantsUsage, hasFunctions, ...decoded } = decodeChat(raw, { developerRole })
      const created = unixSeconds(ctx.clock.now())
      return {
        ...decoded,
        codec: (model, provider) =>
          createChatClient({
            model,
            provider,
            id,
            created,
            wantsUsage: wantsUsage || flavor === 'openrouter',
            hasFunctions,
            flavor,
          }),
      }
    },
  })

const groqClients = /\b((Async)?Groq|ai-sdk[/-]groq)\//

/** Returns the API of a client by its name. Whole requests of the AI SDK name no provider. */
function flavorOf(headers: Headers, messages: unknown): Flavor {
  if (isMistralClient(headers)) return 'mistral'
  const name = headers.get('user-agent') ?? ''
  if (groqClients.test(name)) return 'groq'
  if (!name.startsWith('ai/')) return 'openai'
  return recordsIn(messages).some(isOfMistral) ? 'mistral' : 'ai-sdk'
}

/** Returns whether only the provider for Mistral, of those of the AI SDK, writes such a message. */
function isOfMistral({ role, name, content }: Json): boolean {
  if (role === 'tool') return name !== undefined
  const parts = recordsIn(content)
  const [first = {}, ...others] = parts
  // The others send a text alone as a string, unless it has more fields, such as a cache mark.
  const isLoneText = 'text' in first && Object.keys(first).length === 2 && others.length === 0
  return isLoneText || parts.some(isPartOfMistral)
}

const isPartOfMistral = ({ type, image_url: image }: Json): boolean =>
  type === 'thinking' || type === 'document_url' || typeof image === 'string'

const createChatCompletion = paidOperation({
  id: 'create_chat_completion',
  route: 'POST /chat/completions',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Create a chat completion, whole or as a stream.',
  description:
    "Compatible with OpenAI's chat completions. The maximum cost is held before the model runs, " +
    'and the actual usage is charged. `usage.cost` and the header X-Service-Cost have the cost ' +
    'in USD. A stream has it in its usage chunk, with `stream_options.include_usage`.',
  input: schemas.chatRequestSchema,
  output: [schemas.CompletionSchema, schemas.ChunksSchema],
  errors: schemas.chatErrors,
  run: (ctx, spender, body, call, { headers }) =>
    completeChat(ctx, spender, body, call, {
      flavor: flavorOf(headers, recordOf(body).messages),
    }),
})

/** Chat completions (document 2, POST /v1/chat/completions). */
export const chatOperations = [createChatCompletion]
