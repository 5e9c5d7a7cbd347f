import type { AppContext } from '../context.ts'
import { describeApi } from '../http/api-description.ts'
import type { Entity } from '../http/entity.ts'
import type { RoutedApi } from '../http/operation.ts'
import type { Tag } from './operation.ts'

const tags: Record<Tag, string> = {
  Models: 'What can be asked, and what it costs.',
  Chat: 'Text, streamed or whole, with tools, pictures and files.',
  Media: 'Pictures, films, speech and what was said.',
  Files: 'Uploads that chat requests name.',
  Account: 'Your balance, your keys and what you used.',
}

const parameters = {
  id: { schema: { type: 'string' }, description: 'The id, as it was answered.' },
  method: {
    schema: { type: 'string', enum: ['usdt', 'btc', 'eth', 'sol'] },
    description: 'The coin.',
  },
}

const words = `One API in front of many models, in OpenAI's shapes: switching model means changing the
\`model\` field. Every path also answers without \`/v1\`.

Send your key as \`Authorization: Bearer <key>\`; \`POST /accounts/create\` makes one, and an agent's key
of the Agent API is taken too. Every error is \`{ error: { message, type, param, code } }\`, but the
rate limit of an address, which has a plain body. A fault of ours is 500 with code \`internal\`. Money
is in USD. Every answer carries \`x-request-id\`, which the history names too, and every 429 and 503
\`retry-after\`; \`x-should-retry: false\` says that the same would be refused, or charged, again.`

/** The description of the gateway (document 2), made from its routes. */
export const describeGateway = (ctx: AppContext, api: RoutedApi): Promise<Entity> =>
  describeApi(api, {
    title: 'Berth model gateway',
    version: '1.0.0',
    description: words,
    server: `${ctx.urls.gateway}/v1`,
    mount: '/v1',
    key: 'A gateway key, or an agent key.',
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    parameters,
  })
