import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { accountOperations, projectOperations } from '../gateway/accounts/operations.ts'
import { topupOperations } from '../gateway/accounts/topup-operations.ts'
import { audioOperations } from '../gateway/audio/operations.ts'
import { anyone } from '../gateway/authentication.ts'
import { batchOperations } from '../gateway/batches/operations.ts'
import { catalogOperations, getModel } from '../gateway/catalog/operations.ts'
import { clientApis, inOwnEnvelope, publicPathOf } from '../gateway/client-apis.ts'
import { completionOperations } from '../gateway/completions/operations.ts'
import { embeddingOperations } from '../gateway/embeddings/operations.ts'
import {
  findEnvelope,
  internalError,
  noUpgrade,
  unknownOperation,
} from '../gateway/error-response.ts'
import { fileOperations } from '../gateway/files/operations.ts'
import { gemini } from '../gateway/gemini/client-api.ts'
import { imageOperations } from '../gateway/images/operations.ts'
import { messageOperations } from '../gateway/messages-api/operations.ts'
import { moderationOperations } from '../gateway/moderations/operations.ts'
import { chatOperations } from '../gateway/openai-chat/operations.ts'
import { operationsOf, type Tag } from '../gateway/operation.ts'
import { realtimeOperations } from '../gateway/realtime/operations.ts'
import { rerankOperations } from '../gateway/rerank/operations.ts'
import { responseOperations } from '../gateway/responses/operations.ts'
import { usageOperations } from '../gateway/usage/operations.ts'
import { videoOperations } from '../gateway/videos/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Entity } from '../kernel/http/entity.ts'
import type { Operation } from '../kernel/http/operation.ts'
import { Revalidated } from '../kernel/http/outcome.ts'
import { getRequestContext, pathOf } from '../kernel/http/request-context.ts'
import type { ErrorReply } from '../kernel/http/response.ts'
import { lenientObject, NotModifiedSchema } from '../kernel/schema.ts'
import { describeApi } from './http/openapi.ts'
import { createApp, type FailedRequest, routesOf, serveOperation } from './http/routes.ts'

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

const OpenApiSchema = lenientObject({ openapi: Type.String() })

const getOpenApi: Operation = operationsOf('Models')({
  id: 'get_openapi',
  route: 'GET /openapi.json',
  summary: 'This description (OpenAPI 3.1).',
  access: anyone,
  output: { 200: OpenApiSchema, 304: NotModifiedSchema },
  run: async (ctx) => new Revalidated(await describedGateway(ctx)),
})

/** The operations of the gateway (document 2), by its paths without /v1. */
export const gatewayOperations: readonly Operation[] = [
  ...catalogOperations,
  ...accountOperations,
  ...projectOperations,
  ...usageOperations,
  ...chatOperations,
  ...completionOperations,
  ...responseOperations,
  ...messageOperations,
  ...embeddingOperations,
  ...moderationOperations,
  ...rerankOperations,
  ...realtimeOperations,
  ...imageOperations,
  ...videoOperations,
  ...audioOperations,
  ...fileOperations,
  ...batchOperations,
  ...topupOperations,
  getOpenApi,
]

/** Loads the APIs of others that the gateway has, by the start of their paths. */
export async function loadForeignOperations(): Promise<Record<string, readonly Operation[]>> {
  const loaded = clientApis.map(async ({ prefix, load }) => [prefix, await load()] as const)
  return Object.fromEntries(await Promise.all(loaded))
}

export const describedGateway = (ctx: AppContext): Promise<Entity> =>
  describeGateway(ctx, gatewayOperations)

/** Creates the gateway (document 2). Every operation has a path with `/v1` and one without. */
export async function createGateway(ctx: AppContext) {
  const served = { urlOf: (path: string): string => ctx.urls.gateway + publicPathOf(path) }
  const foreign = await loadForeignOperations()
  const groups = { '/v1': gatewayOperations, '': gatewayOperations, ...foreign }
  const app = createApp(ctx, respondToError)
  for (const [prefix, operations] of Object.entries(groups)) {
    const own = prefix === '' ? operations.filter((one) => one !== getOpenApi) : operations
    app.use(new Elysia({ prefix }).use(routesOf(ctx, own, served)))
    if (operations === gatewayOperations)
      app.use(new Elysia({ prefix }).use(modelById(ctx, served)))
  }
  return app
}

/** Ids contain a slash, which some clients do not encode as %2F. */
const modelById = (ctx: AppContext, served: Parameters<typeof serveOperation>[2]) =>
  new Elysia().get('/models/*', ({ request, params }) =>
    serveOperation(ctx, getModel, served, { request, params: { id: params['*'] }, query: {} }),
  )

/** Gemini's route of POST has any path, but only those of its methods, with a colon, exist. */
const hasMethod = (path: string, method: string): boolean =>
  method !== 'POST' || !path.startsWith(`${gemini.prefix}/`) || path.includes(':')

function respondToError(failed: FailedRequest): ErrorReply {
  const { request } = failed
  return inOwnEnvelope(pathOf(request.url), replyTo(failed), getRequestContext(request).id)
}

function replyTo(failed: FailedRequest): ErrorReply {
  const { request, error, isUnknownRoute } = failed
  if (isUnknownRoute) {
    const innerPath = pathOf(request.url)
    const path = publicPathOf(innerPath)
    const allowed = failed.allowedMethods().filter((one) => hasMethod(innerPath, one))
    getRequestContext(request).unknownPath = path
    return request.headers.has('upgrade')
      ? noUpgrade(path)
      : unknownOperation(request.method, path, allowed)
  }
  return findEnvelope(error) ?? failed.internalError((id) => internalError(id, error))
}
