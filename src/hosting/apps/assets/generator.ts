import type { AppContext } from '../../../context.ts'
import { fromCredits, type NanoUsd } from '../../../core/money.ts'
import { ApiError } from '../../../errors.ts'
import { measures } from '../../../generators/measures.ts'
import { detectFileKind } from '../../../storage/file-kind.ts'
import { type ServiceModel, costOf, findServiceModel, maxCost, NoModelResult } from '../../models/model-call.ts'
import { mediaBounds, generateImage, generateSpeech } from '../../models/media.ts'
import type { AssetRequest as Ask } from './schemas.ts'

/** Who makes an ask and the most it can cost. `by` undefined: the embedded maker. */
interface Quote {
  by: ServiceModel | undefined
  price: NanoUsd
}

/** A made file, and what it cost. */
export interface GeneratedContent {
  bytes: Uint8Array<ArrayBuffer>
  type: string
  width: number | null
  height: number | null
  lastsMs: number | null
  charge: NanoUsd
  /** "embedded", or the model's id. */
  maker: string
}

const isPicture = ({ kind }: Ask): boolean => kind === 'sprite' || kind === 'picture'

function chosenFor(ctx: AppContext, ask: Ask): ServiceModel | undefined {
  const { painterModel, speakerModel, soundModel } = ctx.config
  if (isPicture(ask)) return findServiceModel(ctx, painterModel, 'image')
  return findServiceModel(ctx, ask.kind === 'voice' ? speakerModel : soundModel, 'audio')
}

/** Who would make it, and for how much. Refuses no_painter, no_voice. */
export function getQuote(ctx: AppContext, ask: Ask): Quote {
  const found = findQuote(ctx, ask)
  if (!found) throw new ApiError(isPicture(ask) ? 'no_painter' : 'no_voice')
  return found
}

/** The same; undefined where nothing here makes its kind. */
export function findQuote(ctx: AppContext, ask: Ask): Quote | undefined {
  const by = chosenFor(ctx, ask)
  if (by) return { by, price: maxCost(by, mediaBounds(by, wordsOf(ask))) }
  if (ctx.config.embeddedMakers) {
    return { by, price: fromCredits(ctx.config.embeddedAssetCredits) }
  }
  return undefined
}

/** What a model is told: a sprite is cut out of its ground afterwards. */
function wordsOf({ kind, what, seconds }: Ask): string {
  if (kind === 'sprite') {
    return `${what}. One thing alone, whole, centred, on a plain solid #ff00ff magenta ground, no shadow, no text.`
  }
  const length = kind === 'music' && seconds !== undefined ? ` (${seconds} seconds)` : ''
  return `${what}${length}`
}

/**
 * Makes one asset, by the model of its quote or by the embedded maker. Throws NoAnswer when the
 * model gave nothing usable; refuses try_again.
 */
export async function generateContent(
  ctx: AppContext,
  ask: Ask & { seed: number },
  signal: AbortSignal,
): Promise<GeneratedContent> {
  const { by, price } = getQuote(ctx, ask)
  if (!by) {
    const made = await ctx.generators.make({ ...ask, seed: String(ask.seed) })
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
  const unsaid = key ? measures.sprite : measures.picture
  const { width = unsaid.width, height = unsaid.height } = ask
  const { bytes, type } = await ctx.generators
    .make({ kind: 'painted', bytes: came.bytes, width, height, key })
    .catch((error: unknown) => {
      if (error instanceof ApiError) throw error
      throw new NoModelResult('what came is no picture')
    })
  return { bytes, type, width, height, lastsMs: null, charge: costOf(by, came.usage) }
}

async function spoken(ctx: AppContext, ask: Ask, by: ServiceModel, signal: AbortSignal) {
  const { voice } = ask
  const came = await generateSpeech(ctx, by, { what: wordsOf(ask), voice }, signal)
  const told = await detectFileKind(came.bytes)
  if (!('kind' in told) || told.kind !== 'sound') throw new NoModelResult('what came is no sound')
  const charge = costOf(by, { ...came.usage, seconds: told.seconds })
  const lastsMs = Math.round(told.seconds * 1_000)
  return { bytes: came.bytes, type: told.type, width: null, height: null, lastsMs, charge }
}
