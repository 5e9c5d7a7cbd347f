import type { Tag } from '../gateway/operation.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Entity } from '../kernel/http/entity.ts'
import type { Operation } from '../kernel/http/operation.ts'
import { describeApi } from './http/api-description.ts'

const tags: Record<Tag, string> = {
  Models: 'The models and their prices.',
  Chat: 'Text, streamed or whole, with tools, images and files.',
  Media: 'Images, videos, speech, transcriptions and embeddings.',
  Files: 'Uploads for chat requests.',
  Account: 'Your balance, your keys and your usage.',
}

const parameters = {
  id: { schema: { type: 'string' }, description: 'The id from an earlier response.' },
  method: {
    schema: { type: 'string', enum: ['usdt', 'btc', 'eth', 'sol'] },
    description: 'The coin.',
  },
}

const overview = `One API in front of many models, compatible with OpenAI's: to switch the model, change the
\`model\` field. Every path also works without \`/v1\`.

Send your key as \`Authorization: Bearer <key>\`. \`POST /accounts/create\` creates one. The key of an
agent of the Agent API works too. Every error is \`{ error: { message, type, param, code } }\`, except
the rate limit of an address, which has a plain body. Errors of \`/messages\` have Anthropic's envelope. An internal error is 500 with code \`internal\`.
Money is in USD. Every response has \`x-request-id\`, which the history lists too. Every 429 and 503
has \`retry-after\`. With \`x-should-retry: false\`, a repeated request fails or is charged again.`

/** Describes the gateway (document 2). */
export const describeGateway = (
  ctx: AppContext,
  operations: readonly Operation[],
): Promise<Entity> =>
  describeApi(
    { '': operations },
    {
      title: 'Berth model gateway',
      version: '1.0.0',
      description: overview,
      server: `${ctx.urls.gateway}/v1`,
      key: 'A gateway key or an agent key.',
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      parameters,
    },
  )
