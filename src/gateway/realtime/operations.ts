import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Upgraded } from '../../kernel/http/outcome.ts'
import { getRequestContext, type RequestContext } from '../../kernel/http/request-context.ts'
import {
  realtimeSessionsPerKeyMax,
  unknownOutputTokens,
  unknownWindowTokens,
} from '../../kernel/limits.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { allowsModel, clientRejection } from '../../money/keys/restrictions.ts'
import { beginPaidCall } from '../../money/pay.ts'
import { admitKey, key, type KeySpender, requireLiveKey, type Spender } from '../authentication.ts'
import { callOf, requestOf } from '../call.ts'
import { invalidField } from '../fields.ts'
import {
  realtimeSessionsMax,
  realtimeSpeechSecondsMax,
  realtimeSpeechTokensMax,
} from '../limits.ts'
import type { Model } from '../models/catalog.ts'
import { isTimed } from '../models/price.ts'
import { operationsOf, paidErrors, spendingErrors, upstreamErrors } from '../operation.ts'
import { type Candidate, type Candidates, findModels, listCandidates } from '../paid/candidates.ts'
import { CallDeadlines, deadlineSettingsOf } from '../paid/deadlines.ts'
import { readPreferences } from '../paid/preferences.ts'
import { callUpstream } from '../paid/serve-call.ts'
import { failureOfRejection, type UpstreamFailure } from '../paid/upstream-failure.ts'
import type { MonitoredUpstream } from '../providers/monitored-upstream.ts'
import type { UpstreamSocket } from '../providers/upstream.ts'
import { Meter, type MeteredWork } from './meter.ts'
import { SessionWork } from './session-work.ts'
import { RealtimeSession } from './session.ts'

const QuerySchema = Type.Object({
  model: Type.Optional(Type.String({ description: 'The id of a model of the type realtime.' })),
})

const openRealtime = operationsOf('Chat')({
  id: 'open_realtime',
  route: 'GET /realtime',
  mcp: 'hidden',
  limits: ['holds_limit'],
  summary: 'Open a realtime session over a WebSocket.',
  description:
    "Events have OpenAI's format. Each response is held before it can begin and charged by its usage. Browsers send the key as the protocol openai-insecure-api-key.<key>.",
  access: key,
  input: { query: QuerySchema, read: async (sent) => requestOf(sent) },
  output: {
    101: Type.Null({ description: 'The connection is a WebSocket.' }),
  },
  errors: [
    'needs_websocket',
    'bad_request',
    'no_price',
    ...spendingErrors,
    ...upstreamErrors,
    ...paidErrors,
  ],
  run: (ctx, { caller: spender, body }) => openSession(ctx, spender, body),
})

export const realtimeOperations = [openRealtime]

/** A checked handshake. */
interface Handshake {
  ctx: AppContext
  spender: KeySpender
  request: Request
  context: RequestContext
  candidates: Candidates
}

/**
 * Opens a realtime session: holds the cost of its first response, connects to an upstream, and
 * turns the request into a WebSocket. Throws `needs_websocket`, the errors of the model and of the
 * hold, and those of the upstream, all before the WebSocket exists.
 */
async function openSession(
  ctx: AppContext,
  spender: KeySpender,
  request: Request,
): Promise<Upgraded> {
  const context = getRequestContext(request)
  const isWebSocket = request.headers.get('upgrade')?.toLowerCase() === 'websocket'
  if (!isWebSocket || !context.upgrade) throw new ApiError('needs_websocket')
  const model = readQuery(ctx, request)
  const models = findModels(ctx.catalog, spender, [model], 'realtime')
  const candidates = listCandidates(models, readPreferences(undefined), ctx.upstreams)
  const release = takePlaces(ctx, spender)
  try {
    const handshake = { ctx, spender, request, context, candidates }
    const { meter, socket: upstream } = await connect(handshake)
    const names = [model, meter.candidate.model.id]
    const session = new RealtimeSession({
      paid: paidCallOf(handshake, meter.candidate),
      upstream,
      work: new SessionWork({
        responses: meter,
        createTranscriptions: (name) => createTranscriptions(handshake, meter.candidate, name),
        names,
      }),
      model: meter.candidate.model,
      names,
      checkKey: () => checkKey(handshake),
      release,
    })
    if (context.upgrade(session, responseHeaders(request, context))) return new Upgraded()
    await meter.close(unusedEstimate)
    upstream.close()
    throw new ApiError('needs_websocket')
  } catch (error) {
    release()
    throw error
  }
}

/** Returns the model of a handshake. Throws `bad_request`. */
function readQuery({ guardrail }: AppContext, { url }: Request): string {
  const query = new URL(url).searchParams
  for (const name of ['intent', 'call_id']) {
    if (query.has(name)) throw invalidField(name, `${name} is not supported. Send model instead.`)
  }
  const model = query.get('model')
  if (!model) throw invalidField('model', 'Send the id of a realtime model: ?model=<id>.')
  if (guardrail) {
    const problem = 'The operator checks every request, which is not possible in a session.'
    throw invalidField('model', `${problem} Use POST /v1/chat/completions.`)
  }
  return model
}

/** Counts a session of a key and of this process. Throws `holds_limit`, `try_again`. */
function takePlaces(
  { state }: AppContext,
  { callerId, runningRequests: max }: Spender,
): () => void {
  const running = [...state.sessions].filter((one) => one instanceof RealtimeSession)
  if (running.length >= realtimeSessionsMax) throw new ApiError('try_again', {})
  const endSession = state.limits.realtimeSessions.begin(callerId)
  if (!endSession) {
    throw new ApiError('holds_limit', { max: realtimeSessionsPerKeyMax, retryAfter: 1 })
  }
  try {
    const endCall = beginPaidCall(state, { id: callerId, max })
    return () => {
      endSession()
      endCall()
    }
  } catch (error) {
    endSession()
    throw error
  }
}

interface Connection {
  meter: Meter
  socket: UpstreamSocket
}

/** Connects to the first upstream that accepts. */
async function connect(handshake: Handshake): Promise<Connection> {
  const { ctx, request, candidates } = handshake
  const deadlines = new CallDeadlines(request.signal, deadlineSettingsOf(ctx))
  try {
    const { opened, failure, attempt } = await callUpstream(ctx.upstreams, candidates, {
      deadlines,
      attempt: (upstream, candidate) => connectTo(handshake, upstream, candidate, deadlines),
    })
    if (failure) throw failure.error
    // The responses of the session are measured, not its connection.
    attempt.end('dismissed')
    return opened
  } finally {
    deadlines.end()
  }
}

/** Connects to an upstream. Each attempt has a hold at its own price. */
async function connectTo(
  handshake: Handshake,
  upstream: MonitoredUpstream,
  candidate: Candidate,
  { signal }: CallDeadlines,
): Promise<Connection | UpstreamFailure> {
  const meter = createResponses(handshake, candidate)
  await meter.ensure()
  const isBeta = asksForBeta(handshake.request)
  const opened = await upstream
    .connect({ model: candidate.offer.model, isBeta, signal })
    .catch(async (error: unknown) => {
      await meter.close(unusedEstimate)
      throw error
    })
  if (!('rejected' in opened)) return { meter, socket: opened }
  await meter.close(unusedEstimate)
  return failureOfRejection(opened.rejected)
}

const unusedEstimate = (): never => {
  throw new Error('nothing has begun')
}

const protocolsOf = ({ headers }: Request): string[] =>
  (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim())

const asksForBeta = (request: Request): boolean =>
  protocolsOf(request).includes('openai-beta.realtime-v1') ||
  (request.headers.get('openai-beta') ?? '').includes('realtime=v1')

/** A browser needs one of its protocols back. Those with the key are not repeated. */
const responseHeaders = (request: Request, { id }: RequestContext): Record<string, string> => ({
  'x-request-id': id,
  ...(protocolsOf(request).includes('realtime') && { 'sec-websocket-protocol': 'realtime' }),
})

const findKey = ({ ctx, request }: Handshake) => ctx.keys.find(readApiKey(request.headers) ?? '')

const checkKey = async (handshake: Handshake): Promise<unknown> =>
  requireLiveKey(handshake.ctx, await findKey(handshake))

/** Counts a call of the key, whose limits may have changed since the last one. */
async function admit(handshake: Handshake): Promise<Spender> {
  const { ctx, context } = handshake
  const rejection = clientRejection(ctx, context.client)
  if (rejection) throw new ApiError('rate_limited', rejection)
  return admitKey(ctx, await findKey(handshake))
}

const paidCallOf = (
  { ctx, spender, request, context }: Handshake,
  candidate: Candidate,
): MeteredWork['paid'] => ({
  ...callOf({ headers: request.headers, signal: request.signal, context }),
  ctx,
  spender,
  candidates: [candidate],
  slot: undefined,
})

/** A response has at most the window as its input. */
function createResponses(handshake: Handshake, candidate: Candidate): Meter {
  const { contextLength, maxOutput } = candidate.model
  const prompt = contextLength || unknownWindowTokens
  const completion = maxOutput || Math.min(prompt, unknownOutputTokens)
  return createMeter(handshake, candidate, 'realtime', { prompt, completion })
}

/**
 * Creates the meter of a transcription model of the same upstream, at its own price. Throws
 * `bad_request`, `model_not_allowed`.
 */
function createTranscriptions(handshake: Handshake, { offer }: Candidate, name: unknown): Meter {
  const { ctx, spender } = handshake
  const found = ctx.catalog
    .list(['audio'])
    .flatMap((model) => candidatesAt(model, offer.upstream))
    .find(({ model, offer }) => name === offer.model || name === model.id)
  if (!found) {
    const problem = 'Set transcription.model to a priced transcription model of the same upstream'
    throw invalidField('session', `${problem} (GET /v1/models?type=audio).`)
  }
  const { id, contextLength, maxOutput } = found.model
  if (spender.models && !allowsModel(spender.models, id)) {
    throw new ApiError('model_not_allowed', { model: id, allowed: spender.models })
  }
  const prompt = contextLength || realtimeSpeechTokensMax
  const completion = maxOutput || prompt
  const seconds = isTimed(found.price) ? realtimeSpeechSecondsMax : 0
  return createMeter(handshake, found, 'transcription', { prompt, completion, seconds })
}

const candidatesAt = (model: Model, upstream: string): Candidate[] =>
  model.outputs.includes('text')
    ? model.offers.flatMap((offer) =>
        offer.upstream === upstream && offer.price ? [{ model, offer, price: offer.price }] : [],
      )
    : []

function createMeter(
  handshake: Handshake,
  candidate: Candidate,
  kind: MeteredWork['kind'],
  limits: MeteredWork['limits'],
): Meter {
  const { prompt, completion, seconds = 0 } = limits
  return new Meter({
    paid: paidCallOf(handshake, candidate),
    kind,
    bounds: { inputTokensMax: prompt, outputTokensMax: completion, hasAudio: true, seconds },
    limits,
    admit: () => admit(handshake),
  })
}
