import { type Spender, spenderOf } from '../../gateway/authentication.ts'
import { type Call, callOf } from '../../gateway/call.ts'
import { errorEnvelope, errorResponse, isGatewayError } from '../../gateway/error-response.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, type GatewayErrorName, isApiError } from '../../kernel/errors.ts'
import { readJsonBody } from '../../kernel/http/body.ts'
import { clientAddressGroup, senderOf } from '../../kernel/http/request-context.ts'
import { sha256 } from '../../kernel/ids.ts'
import { gatewayBodyBytesMax } from '../../kernel/limits.ts'
import { formatCredits } from '../../kernel/money.ts'
import { lookUp } from '../../kernel/schema.ts'
import { walletOf } from '../../people/people.ts'
import { checkSite } from '../../people/session-user.ts'
import type { UserRequest } from '../session.ts'

/** Returns a message in credits and form labels; those of the API are in USD and field names. */
function messageOf(error: ApiError<GatewayErrorName>): string {
  if (isApiError(error, 'not_enough_credits')) {
    const [{ needed, available }] = error.details
    return (
      `This request can cost up to ${formatCredits(needed)} credits and your wallet has ` +
      `${formatCredits(available)}. Nothing was charged. Lower “Max tokens” or add credits in your wallet.`
    )
  }
  if (isApiError(error, 'no_model')) {
    const [{ model }] = error.details
    return `The model ${model.slice(0, 100)} is not available. Choose another model.`
  }
  return errorEnvelope(error).body.error.message
}

function callErrorResponse(error: ApiError<GatewayErrorName>): Response {
  const { status, headers, body } = errorEnvelope(error)
  return Response.json({ error: { ...body.error, message: messageOf(error) } }, { status, headers })
}

interface PaidInput {
  ctx: AppContext
  request: Request
  spender: Spender
  call: Call
}
type Operation = (input: PaidInput) => Promise<Response>

/**
 * Runs an operation that the person's wallet pays for, within the rate limit of the client's
 * address. Returns errors as gateway responses with messages for people.
 */
async function runPaid({ ctx, request, visitor }: UserRequest, work: Operation): Promise<Response> {
  try {
    const { gatewayRequests: rate } = ctx.state.limits
    const retryAfter = rate.take(clientAddressGroup(request))
    if (retryAfter !== undefined) throw new ApiError('rate_limited', { max: rate.max, retryAfter })
    const spender = spenderOf(walletOf(visitor.person))
    return await work({
      ctx,
      request,
      spender,
      call: callOf({ ...senderOf(request), signal: request.signal }),
    })
  } catch (error) {
    if (isGatewayError(error)) return callErrorResponse(error)
    return errorResponse(error, () => {
      throw error
    })
  }
}

/** Runs a chat completion (document 2) of the form without scripts. */
export const runChat = (req: UserRequest, body: () => object): Promise<Response> =>
  runPaid(req, async ({ ctx, spender, call }) => {
    // Imported with the first request, to keep the start fast.
    const { createChatCompletion } = await import('../../gateway/openai-chat/chat-completions.ts')
    return createChatCompletion(ctx, spender, body(), call)
  })

const readJson = ({ request }: PaidInput) => readJsonBody(request, { max: gatewayBodyBytesMax })

/** The operations of the gateway (document 2, section 4) by their paths below `/v1/`. */
const operations: Record<string, Operation> = {
  async 'chat/completions'(input) {
    const { createChatCompletion } = await import('../../gateway/openai-chat/chat-completions.ts')
    return createChatCompletion(input.ctx, input.spender, await readJson(input), input.call)
  },
  async 'images/generations'(input) {
    const { generateImages } = await import('../../gateway/images/images.ts')
    return generateImages(input.ctx, input.spender, await readJson(input), input.call)
  },
  async 'audio/speech'(input) {
    const { synthesizeSpeech } = await import('../../gateway/audio/speech.ts')
    return synthesizeSpeech(input.ctx, input.spender, await readJson(input), input.call)
  },
  async 'audio/transcriptions'({ ctx, spender, request, call }) {
    const { createTranscription } = await import('../../gateway/audio/transcriptions.ts')
    return createTranscription(ctx, spender, request, call)
  },
  async embeddings(input) {
    const { createEmbeddings } = await import('../../gateway/embeddings/embeddings.ts')
    return createEmbeddings(input.ctx, input.spender, await readJson(input), input.call)
  },
  async videos({ ctx, spender, request, call }) {
    const { submit } = await import('../../gateway/videos/submit.ts')
    return submit(ctx, spender, request, call)
  },
  async files({ ctx, spender, request }) {
    const { readUpload } = await import('../../gateway/files/upload.ts')
    const files = await import('../../gateway/files/files.ts')
    const file = await files.create(ctx, spender.account, await readUpload(request))
    return Response.json(files.present(ctx, file))
  },
}

/** The header with the token of the page's form. Other sites cannot set it. */
const tokenHeader = 'x-form-token'

/**
 * Runs an operation of the gateway with the body of the API, paid by the session: the token of the
 * form is in a header (docs/decisions/0083). Throws `cross_site`, `not_found`.
 */
export async function callGateway(req: UserRequest, path: string): Promise<Response> {
  checkSite(req.ctx, req.request)
  const given = req.request.headers.get(tokenHeader) ?? ''
  if (sha256(given) !== sha256(req.token)) {
    return Response.json({ error: { message: 'This page expired. Reload it.' } }, { status: 403 })
  }
  const work = lookUp(operations, path)
  if (!work) throw new ApiError('not_found', { what: 'page' })
  return runPaid(req, work)
}

/** Returns the video of a wallet (document 2, GET /v1/videos/{id}). Throws `not_found`. */
export async function readVideo({ ctx, visitor }: UserRequest, id: string): Promise<Response> {
  const videos = await import('../../gateway/videos/videos.ts')
  const job = await videos.getVideo(ctx, spenderOf(walletOf(visitor.person)), id)
  return Response.json(videos.present(ctx, job), { headers: { 'cache-control': 'no-store' } })
}
