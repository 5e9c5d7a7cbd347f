import type { Model } from './catalogue.ts'
import { type Listing, toModel } from './listing.ts'
import type { PriceTexts } from './price.ts'

type Row = Listing & { model: string }

const named = (maker: string, model: string): { id: string; model: string } => ({
  id: `${maker}/${model.replace(/^fal-ai\//, '')}`,
  model,
})

const picture = (maker: string, model: string, perImage: string): Row => ({
  ...named(maker, model),
  type: 'image',
  price: { per_image: perImage },
})

const speech = (maker: string, model: string, perCharacter: string): Row => ({
  ...named(maker, model),
  type: 'audio',
  outputs: ['audio'],
  price: { per_character: perCharacter },
})

/** Paid by the second at the size that is made where none is asked for, with its sound. */
const film = (maker: string, model: string, perSecond: string): Row => ({
  ...named(maker, model),
  type: 'video',
  outputs: ['video'],
  price: { per_second: perSecond },
})

const listener = (maker: string, model: string, price: PriceTexts): Row => ({
  ...named(maker, model),
  type: 'audio',
  inputs: ['audio'],
  outputs: ['text'],
  price,
})

/** Where the maker tells the prices of its media, and what we have of them. */
interface Published {
  page: string
  rows: Row[]
}

/** When these rows were compared with what others publish of their prices. */
export const mediaPricesCheckedAt = '2026-11'

/**
 * Media that the published list has no price of, by upstream: USD per unit. A row stands here only
 * where another's published table has the same price; where a model has several it is the dearest.
 * Pictures that are paid by the megapixel are not here: a size would change their price. An
 * operator's own row wins (docs/decisions/0040).
 */
const media: Record<string, Published> = {
  openai: {
    page: 'https://platform.openai.com/docs/pricing',
    rows: [speech('openai', 'tts-1', '0.000015'), speech('openai', 'tts-1-hd', '0.00003')],
  },
  gemini: {
    page: 'https://ai.google.dev/gemini-api/docs/pricing',
    rows: [
      {
        ...named('google', 'gemini-2.5-flash-image'),
        type: 'image',
        maxOutput: 8_192,
        price: { prompt: '0.0000003', completion: '0.00003' },
      },
      film('google', 'veo-3.0-generate-001', '0.4'),
      film('google', 'veo-3.0-fast-generate-001', '0.15'),
      film('google', 'veo-2.0-generate-001', '0.35'),
    ],
  },
  fal: {
    page: 'https://fal.ai/pricing',
    rows: [picture('fal', 'fal-ai/flux-pro/v1.1-ultra', '0.06')],
  },
  replicate: {
    page: 'https://replicate.com/pricing',
    rows: [
      picture('replicate', 'black-forest-labs/flux-schnell', '0.003'),
      picture('replicate', 'black-forest-labs/flux-dev', '0.025'),
      picture('replicate', 'black-forest-labs/flux-1.1-pro', '0.04'),
      picture('replicate', 'black-forest-labs/flux-1.1-pro-ultra', '0.06'),
    ],
  },
  elevenlabs: {
    page: 'https://elevenlabs.io/pricing/api',
    rows: [
      speech('elevenlabs', 'eleven_multilingual_v2', '0.0001'),
      speech('elevenlabs', 'eleven_v3', '0.0001'),
      speech('elevenlabs', 'eleven_flash_v2_5', '0.00005'),
      speech('elevenlabs', 'eleven_turbo_v2_5', '0.00005'),
      listener('elevenlabs', 'scribe_v1', { per_minute: '0.003666666666667' }),
      listener('elevenlabs', 'scribe_v2', { per_minute: '0.003666666666667' }),
    ],
  },
  deepgram: {
    page: 'https://deepgram.com/pricing',
    rows: [
      // Of many languages; English alone costs less.
      listener('deepgram', 'nova-3', { per_minute: '0.0052' }),
      listener('deepgram', 'nova-2', { per_minute: '0.0043' }),
    ],
  },
}

/** Where to look up the prices of an upstream's media; undefined where we have none. */
export const mediaPricePage = (upstream: string): string | undefined => media[upstream]?.page

/** The media of one configured provider. */
export const mediaModels = (upstream: string, marginPercent: number): Model[] =>
  (media[upstream]?.rows ?? []).map(({ model, ...listing }) =>
    toModel(listing, [{ upstream, model }], marginPercent),
  )
