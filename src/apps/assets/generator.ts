import { chargeOf, maxCost } from '../../gateway/models/charge.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fromCredits, type NanoUsd } from '../../kernel/money.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import { defaultSizes } from '../generators/default-sizes.ts'
import {
  findServiceModel,
  generateImage,
  generateSpeech,
  mediaBounds,
  NoModelResult,
  type ServiceModel,
} from '../model-call.ts'
import type { AssetRequest } from './schemas.ts'

/** Generator of an asset and its maximum price. `by` is undefined for the embedded generator. */
interface Quote {
  by: ServiceModel | undefined
  price: NanoUsd
}

const isImage = ({ kind }: AssetRequest): boolean => kind === 'sprite' || kind === 'picture'

function findModel(ctx: AppContext, request: AssetRequest): ServiceModel | undefined {
  const { painterModel, speakerModel, soundModel } = ctx.config
  if (isImage(request)) return findServiceModel(ctx, painterModel, 'image')
  return findServiceModel(ctx, request.kind === 'voice' ? speakerModel : soundModel, 'audio')
}

/** Returns the generator and the price of an asset. Throws `no_painter` and `no_voice`. */
export function getQuote(ctx: AppContext, request: AssetRequest): Quote {
  const found = findQuote(ctx, request)
  if (!found) throw new ApiError(isImage(request) ? 'no_painter' : 'no_voice')
  return found
}

export function findQuote(ctx: AppContext, request: AssetRequest): Quote | undefined {
  const by = findModel(ctx, request)
  if (by) return { by, price: maxCost(by.price, mediaBounds(by, promptOf(request))) }
  if (ctx.config.embeddedMakers) {
    return { by, price: fromCredits(ctx.config.embeddedAssetCredits) }
  }
  return undefined
}

/** Returns the prompt of an asset. The background of a sprite is removed afterwards. */
function promptOf({ kind, what, seconds }: AssetRequest): string {
  if (kind === 'sprite') {
    return `${what}. One thing alone, whole, centred, on a plain solid #ff00ff magenta ground, no shadow, no text.`
  }
  const length = kind === 'music' && seconds !== undefined ? ` (${seconds} seconds)` : ''
  return `${what}${length}`
}

/** Throws NoModelResult when the model returns nothing usable, and `try_again`. */
export async function generateContent(
  ctx: AppContext,
  request: AssetRequest & { seed: number },
  signal: AbortSignal,
) {
  const { by, price } = getQuote(ctx, request)
  if (!by) {
    const generated = await ctx.generators.generate({ ...request, seed: String(request.seed) })
    const { bytes, type, width = null, height = null, seconds } = generated
    const lastsMs = seconds === undefined ? null : Math.round(seconds * 1_000)
    return { bytes, type, width, height, lastsMs, charge: price, maker: 'embedded' }
  }
  const generated = await (isImage(request) ? generateWithImageModel : generateWithAudioModel)(
    ctx,
    request,
    by,
    signal,
  )
  return { ...generated, maker: by.model.id }
}

async function generateWithImageModel(
  ctx: AppContext,
  request: AssetRequest,
  by: ServiceModel,
  signal: AbortSignal,
) {
  const result = await generateImage(ctx, by, promptOf(request), signal)
  const key = request.kind === 'sprite'
  const defaults = key ? defaultSizes.sprite : defaultSizes.picture
  const { width = defaults.width, height = defaults.height } = request
  const { bytes, type } = await ctx.generators
    .generate({ kind: 'painted', bytes: result.bytes, width, height, key })
    .catch((error: unknown) => {
      if (error instanceof ApiError) throw error
      throw new NoModelResult('the result is not an image')
    })
  return { bytes, type, width, height, lastsMs: null, charge: chargeOf(by.price, result.usage) }
}

async function generateWithAudioModel(
  ctx: AppContext,
  request: AssetRequest,
  by: ServiceModel,
  signal: AbortSignal,
) {
  const { voice } = request
  const result = await generateSpeech(ctx, by, { what: promptOf(request), voice }, signal)
  const file = await detectFileKind(result.bytes)
  if (!('kind' in file) || file.kind !== 'sound') throw new NoModelResult('the result is not audio')
  const charge = chargeOf(by.price, { ...result.usage, seconds: file.seconds })
  const lastsMs = Math.round(file.seconds * 1_000)
  return { bytes: result.bytes, type: file.type, width: null, height: null, lastsMs, charge }
}
