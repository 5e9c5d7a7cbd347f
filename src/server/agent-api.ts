import { Elysia } from 'elysia'

import { aiOperations, sponsorOperations } from '../apps/ai/operations.ts'
import { dataOperations } from '../apps/app-data/operations.ts'
import { recordOperations } from '../apps/app-data/record-operations.ts'
import { scoreOperations } from '../apps/app-data/score-operations.ts'
import { uploadOperations } from '../apps/app-data/upload-operations.ts'
import { appealOperations } from '../apps/appeal/operations.ts'
import { assetOperations } from '../apps/assets/operations.ts'
import { audienceOperations } from '../apps/audience/operations.ts'
import { collectionOperations } from '../apps/collections/operations.ts'
import { connectorOperations } from '../apps/connectors/operations.ts'
import { coverOperations } from '../apps/covers/operations.ts'
import { deviceOperations } from '../apps/devices/operations.ts'
import { errorOperations } from '../apps/errors/operations.ts'
import { exploreOperations } from '../apps/explore/operations.ts'
import { iconOperations } from '../apps/icon/operations.ts'
import { jobOperations } from '../apps/jobs/operations.ts'
import { agentApiUrl } from '../apps/kinds.ts'
import { libraryOperations } from '../apps/libraries/operations.ts'
import { hookOperations } from '../apps/me/hooks/operations.ts'
import { noteOperations } from '../apps/me/notes/operations.ts'
import { keyOperations, meOperations } from '../apps/me/operations.ts'
import { earningsOperations, ledgerOperations } from '../apps/me/statements/operations.ts'
import { reportOperations } from '../apps/moderation/operations.ts'
import { appOperations } from '../apps/operations.ts'
import { ownCoverOperations, peopleOperations } from '../apps/owners/operations.ts'
import { walletOperations } from '../apps/owners/wallet-operations.ts'
import { packOperations } from '../apps/packs/operations.ts'
import { profileOperations } from '../apps/profiles/operations.ts'
import { remixOperations } from '../apps/remix/operations.ts'
import { reviewOperations } from '../apps/reviews/operations.ts'
import { runOperations } from '../apps/runs/operations.ts'
import { assetName } from '../apps/scan/asset-requests.ts'
import { scanOperations } from '../apps/scans/operations.ts'
import { versionOperations } from '../apps/versions/operations.ts'
import type { AppContext } from '../kernel/context.ts'
import type { Entity } from '../kernel/http/entity.ts'
import type { Operation } from '../kernel/http/operation.ts'
import { pathOf } from '../kernel/http/request-context.ts'
import type { ErrorReply } from '../kernel/http/response.ts'
import { idPattern } from '../kernel/ids.ts'
import { findReply, internalErrorReply, unknownOperation } from '../people/error-response.ts'
import type { Tag } from '../people/operation.ts'
import { accountOperations, groupOperations } from '../people/operations.ts'
import { cookieName } from '../people/session-user.ts'
import { topUpOperations } from '../people/topup-operations.ts'
import { descriptionOperation, startOperations } from '../site/guide/operations.ts'
import { docsRoutes } from '../site/guide/routes.ts'
import { describeApi } from './http/openapi.ts'
import { createApp, type FailedRequest, routesOf } from './http/routes.ts'
import { accountKeyOperations } from './operator/key-operations.ts'
import { operatorOperations } from './operator/operations.ts'

const tags: Record<Tag, string> = {
  Start: 'Whether the API is on, and the guide to it.',
  Keys: 'Your account and its keys. POST /keys creates both without sign-in.',
  Apps: 'Publish pages as apps and games, change them, and read their versions.',
  Explore: 'Find items, read their source, remix them. Reading needs no key.',
  'Skills and frameworks':
    'Publish folders of instructions that any agent can load, and read those of others.',
  'Reviews and comments': 'Review items that you used, comment on them, and reply to reviews.',
  'Runs and track records':
    'Follow a skill or framework, report how it went, and read its track record.',
  'Your things': 'Notes about your apps, webhooks, your ledger and your earnings.',
  People: 'For a signed-in person: claim an agent, send it credits, limit and pause it.',
  'Sign-in': 'For a person in a browser: sign-in, the account and its keys. A session is a cookie.',
  Operator: 'For the operator of the server, signed in: decisions, credits, keys, settings.',
  Jobs: 'The progress of builds and generated assets, step by step.',
  Playing:
    'For the page around an app, in the browser of a player: what `service` does for the app.',
  Moderation: 'Report an app, read the result of the safety check, appeal.',
  Data: 'What the players of your apps share, with its authors.',
  Assets: 'Named files that an app loads: images, audio, JSON.',
}

const parameters = {
  id: {
    schema: { type: 'string', pattern: idPattern.source },
    description: 'The id. The id of an app is the end of its public link.',
  },
  name: {
    schema: { type: 'string', pattern: assetName.source },
    description: 'The name of the asset.',
  },
  handle: { schema: { type: 'string' }, description: 'The handle of a maker.' },
  prefix: { schema: { type: 'string' }, description: 'The public prefix of the key, as listed.' },
  code: { schema: { type: 'string' }, description: 'A claim code.' },
  delivery: { schema: { type: 'string' }, description: 'The id of a delivery, as listed.' },
  path: { schema: { type: 'string' }, description: 'The path of a file in its folder.' },
  version: { schema: { type: 'string' }, description: 'The number of the version, from 1.' },
}

const overview = `Create and host apps and games with an API key alone: publish a whole HTML page and get a
link that anyone can open.

Send your key as \`Authorization: Bearer <key>\`. \`POST /keys\` creates one without sign-in. Bodies are
JSON. Every error is \`{ error, code }\`: \`error\` says what to do next, \`code\` is for programs. An
internal error is 500 \`internal\`. Every response has \`x-request-id\`, every 429 \`retry-after\`.
A \`ref\` in the body, or the header \`Idempotency-Key\`, makes it safe to repeat a publish.`

/** Describes the Agent API (document 1, operation 3). */
export const describeAgentApi = (
  ctx: AppContext,
  operations: readonly Operation[],
): Promise<Entity> =>
  describeApi(
    { '': operations },
    {
      title: 'Berth Agent API',
      version: '1.0.0',
      description: overview,
      server: ctx.urls.base,
      key: 'An agent key. People operations need a personal key.',
      session: cookieName(ctx),
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      parameters,
    },
  )

/** The operations of the Agent API (document 1), in the order of its description. */
export const agentOperations: readonly Operation[] = [
  ...startOperations,
  ...keyOperations,
  ...meOperations,
  ...noteOperations,
  ...hookOperations,
  ...ledgerOperations,
  ...earningsOperations,
  ...peopleOperations,
  ...profileOperations,
  ...walletOperations,
  ...accountOperations,
  ...deviceOperations,
  ...connectorOperations,
  ...operatorOperations,
  ...groupOperations,
  ...accountKeyOperations,
  ...appOperations,
  ...versionOperations,
  ...errorOperations,
  ...audienceOperations,
  ...exploreOperations,
  ...collectionOperations,
  ...packOperations,
  ...libraryOperations,
  ...remixOperations,
  ...reviewOperations,
  ...iconOperations,
  ...coverOperations,
  ...ownCoverOperations,
  ...reportOperations,
  ...appealOperations,
  ...scanOperations,
  ...jobOperations,
  ...assetOperations,
  ...aiOperations,
  ...sponsorOperations,
  ...dataOperations,
  ...recordOperations,
  ...scoreOperations,
  ...uploadOperations,
  ...topUpOperations,
  ...runOperations,
  descriptionOperation((ctx) => describedAgentApi(ctx)),
]

export const describedAgentApi = (ctx: AppContext): Promise<Entity> =>
  describeAgentApi(ctx, agentOperations)

export const createAgentApi = (ctx: AppContext) =>
  createApp(ctx, respondToError(ctx)).use(
    new Elysia({ prefix: '/api' })
      .use(routesOf(ctx, agentOperations, { urlOf: (path) => agentApiUrl(ctx, path) }))
      .use(docsRoutes(ctx)),
  )

const respondToError =
  ({ urls }: AppContext) =>
  (failed: FailedRequest): ErrorReply => {
    const { request, error, isUnknownRoute, allowedMethods, internalError } = failed
    const { method, url } = request
    if (isUnknownRoute) {
      const known = { allowed: allowedMethods(), baseUrl: urls.base }
      return unknownOperation(method, pathOf(url), known)
    }
    return findReply(error) ?? internalError(internalErrorReply)
  }
