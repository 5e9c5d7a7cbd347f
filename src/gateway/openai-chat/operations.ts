import { isMistralClient } from '../client-apis.ts'
import { paidOperation } from '../operation.ts'
import { createChatCompletion as complete } from './chat-completions.ts'
import * as schemas from './schemas.ts'

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
    complete(ctx, spender, body, call, { flavor: isMistralClient(headers) ? 'mistral' : 'openai' }),
})

/** Chat completions (document 2, POST /v1/chat/completions). */
export const chatOperations = [createChatCompletion]
