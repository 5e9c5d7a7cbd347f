import { Type } from '@sinclair/typebox'

import { key } from '../authentication.ts'
import { callOf } from '../call.ts'
import { operation } from '../operation.ts'
import { createChatCompletion as complete } from './chat-completions.ts'
import * as schemas from './schemas.ts'
import { flavorOf } from './write.ts'

const createChatCompletion = operation({
  id: 'create_chat_completion',
  route: 'POST /chat/completions',
  tag: 'Chat',
  idempotent: true,
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Create a chat completion, whole or as a stream.',
  description:
    "Compatible with OpenAI's chat completions. The maximum cost is held before the model runs, " +
    'and the actual usage is charged. `usage.cost` and the header X-Service-Cost have the cost ' +
    'in USD. A stream has it in its usage chunk, with `stream_options.include_usage`.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.chatRequestSchema } } },
  output: {
    200: Type.Unsafe<Response>(Type.Union([schemas.CompletionSchema, schemas.ChunksSchema])),
  },
  errors: schemas.chatErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    complete(ctx, spender, body, callOf(call), { flavor: flavorOf(call.headers) }),
})

/** Chat completions (document 2, POST /v1/chat/completions). */
export const chatOperations = [createChatCompletion]
