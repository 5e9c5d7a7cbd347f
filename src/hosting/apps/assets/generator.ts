import type { AppContext } from '../../../context.ts'
import { fromCredits, type NanoUsd } from '../../../core/money.ts'
import { ApiError } from '../../../errors.ts'
import { defaultSizes } from '../../../generators/default-sizes.ts'
import { chargeOf, maxCost } from '../../../models/charge.ts'
import { detectFileKind } from '../../../storage/file-kind.ts'
import { generateImage, generateSpeech, mediaBounds } from '../../models/media.ts'
import { findServiceModel, NoModelResult, type ServiceModel } from '../../models/model-call.ts'
import type { AssetRequest as Ask } from './schemas.ts'

/** Generator of an asset and its maximum price. `by` is undefined for the embedded generator. */
interface Quote {
  by: ServiceModel | undefined
  price: NanoUsd
}

/** A generated file and its charge. */
export interface GeneratedContent {
  bytes: Uint8Array<ArrayBuffer>
  type: string
  width: number | null
  height: number | null
  lastsMs: number | null
  charge: NanoUsd
  /** `embedded`, or the model id. */
  maker: string
}

const isPicture = ({ kind }: Ask): boolean => kind === 'sprite' || kind === 'picture'

function chosenFor(ctx: AppContext, ask: Ask): ServiceModel | undefined {
  const { painterModel, speakerModel, soundModel } = ctx.config
  if (isPicture(ask)) return findServiceModel(ctx, painterModel, 'image')
  return findServiceModel(ctx, ask.kind === 'voice' ? speakerModel : soundModel, 'audio')
}

/** Returns the generator and the price of an asset. Throws `no_painter` and `no_voice`. */
export function getQuote(ctx: AppContext, ask: Ask): Quote {
  const found = findQuote(ctx, ask)
  if (!found) throw new ApiError(isPicture(ask) ? 'no_painter' : 'no_voice')
  return found
}

/** Finds the generator and the price of an asset. */
export function findQuote(ctx: AppContext, ask: Ask): Quote | undefined {
  const by = chosenFor(ctx, ask)
  if (by) return { by, price: maxCost(by.price, mediaBounds(by, wordsOf(ask))) }
  if (ctx.config.embeddedMakers) {
    return { by, price: fromCredits(ctx.config.embeddedAssetCredits) }
  }
  return undefined
}

/** Returns the prompt of an asset. The background of a sprite is removed afterwards. */
function wordsOf({ kind, what, seconds }: Ask): string {
  if (kind === 'sprite') {
    return `${what}. One thing alone, whole, centred, on a plain solid #ff00ff magenta ground, no shadow, no text.`
  }
  const length = kind === 'music' && seconds !== undefined ? ` (${seconds} seconds)` : ''
  return `${what}${length}`
}

/**
 * Generates an asset with a model or with the embedded generator. Throws NoModelResult when the
 * model returns nothing usable, and `try_again`.
 */
export async function generateContent(
  ctx: AppContext,
  ask: Ask & { seed: number },
  signal: AbortSignal,
): Promise<GeneratedContent> {
  const { by, price } = getQuote(ctx, ask)
  if (!by) {
    const made = await ctx.generators.generate({ ...ask, seed: String(ask.seed) })
    const { bytes, type, width = null, height = null, seconds } = made
    const lastsMs = seconds === undefined ? null : Math.round(seconds * 1_000)
    return { bytes, type, width, height, lastsMs, charge: price, maker: 'embedded' }
  }
  const made = await (isPicture(ask) ? painted : spoken)(ctx, ask, by, signal)
  return { ...made, maker: by.model.id }
}

async function painted(ctx: AppContext, ask: Ask, by: ServiceModel, signal: AbortSignal) {
  const came = await generateImage(ctx, by, wordsOf(ask), signal)
  const key = ask.kind === 'sprite'
  const unsaid = key ? defaultSizes.sprite : defaultSizes.picture
  const { width = unsaid.width, height = unsaid.height } = ask
  const { bytes, type } = await ctx.generators
    .generate({ kind: 'painted', bytes: came.bytes, width, height, key })
    .catch((error: unknown) => {
      if (error instanceof ApiError) throw error
      throw new NoModelResult('what came is no picture')
    })
  return { bytes, type, width, height, lastsMs: null, charge: chargeOf(by.price, came.usage) }
}

async function spoken(ctx: AppContext, ask: Ask, by: ServiceModel, signal: AbortSignal) {
  const { voice } = ask
  const came = await generateSpeech(ctx, by, { what: wordsOf(ask), voice }, signal)
  const file = await detectFileKind(came.bytes)
  if (!('kind' in file) || file.kind !== 'sound') throw new NoModelResult('what came is no sound')
  const charge = chargeOf(by.price, { ...came.usage, seconds: file.seconds })
  const lastsMs = Math.round(file.seconds * 1_000)
  return { bytes: came.bytes, type: file.type, width: null, height: null, lastsMs, charge }
}
