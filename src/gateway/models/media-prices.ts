import { lookUp } from '../../kernel/schema.ts'
import type { Model } from './catalog.ts'
import { type Listing, toModel } from './listing.ts'

type Row = Listing & { model: string }

const row = (maker: string, model: string, fields: Omit<Listing, 'id'>): Row => ({
  id: `${maker}/${model.replace(/^fal-ai\//, '')}`,
  model,
  ...fields,
})

const image = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'image', price: { per_image: usd } })

const speech = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'audio', outputs: ['audio'], price: { per_character: usd } })

/** Charged by the second, at the default size and with audio. */
const video = (maker: string, model: string, usd: string): Row =>
  row(maker, model, { type: 'video', outputs: ['video'], price: { per_second: usd } })

const transcription = (maker: string, model: string, usd: string): Row => {
  const price = { per_minute: usd }
  return row(maker, model, { type: 'audio', inputs: ['audio'], outputs: ['text'], price })
}

/** The price page of a provider, and the models whose prices are known. */
interface MediaPrices {
  page: string
  rows: Row[]
}

/** Month of the last comparison of these rows with the published prices. */
export const mediaPricesCheckedAt = '2026-11'

/**
 * Media models without a price in the published list, by upstream, in USD per unit. Each price has
 * a second published source; of several prices, it is the highest. Images charged per megapixel are
 * excluded, because their price depends on the size. An operator's own row replaces these.
 */
const media: Record<string, MediaPrices> = {
  openai: {
    page: 'https://platform.openai.com/docs/pricing',
    rows: [
      speech('openai', 'tts-1', '0.000015'),
      speech('openai', 'tts-1-hd', '0.00003'),
      row('openai', 'omni-moderation-latest', {
        type: 'moderation',
        inputs: ['text', 'image'],
        price: { prompt: '0' },
      }),
    ],
  },
  cohere: {
    page: 'https://cohere.com/pricing',
    rows: [row('cohere', 'rerank-v3.5', { type: 'rerank', price: { per_search: '0.002' } })],
  },
  gemini: {
    page: 'https://ai.google.dev/gemini-api/docs/pricing',
    rows: [
      row('google', 'gemini-2.5-flash-image', {
        type: 'image',
        inputs: ['text', 'image'],
        maxOutput: 8_192,
        price: { prompt: '0.0000003', completion: '0.00003' },
      }),
      video('google', 'veo-3.0-generate-001', '0.4'),
      video('google', 'veo-3.0-fast-generate-001', '0.15'),
      video('google', 'veo-2.0-generate-001', '0.35'),
    ],
  },
  fal: {
    page: 'https://fal.ai/pricing',
    rows: [image('fal', 'fal-ai/flux-pro/v1.1-ultra', '0.06')],
  },
  replicate: {
    page: 'https://replicate.com/pricing',
    rows: [
      image('replicate', 'black-forest-labs/flux-schnell', '0.003'),
      image('replicate', 'black-forest-labs/flux-dev', '0.025'),
      image('replicate', 'black-forest-labs/flux-1.1-pro', '0.04'),
      image('replicate', 'black-forest-labs/flux-1.1-pro-ultra', '0.06'),
    ],
  },
  elevenlabs: {
    page: 'https://elevenlabs.io/pricing/api',
    rows: [
      speech('elevenlabs', 'eleven_multilingual_v2', '0.0001'),
      speech('elevenlabs', 'eleven_v3', '0.0001'),
      speech('elevenlabs', 'eleven_flash_v2_5', '0.00005'),
      speech('elevenlabs', 'eleven_turbo_v2_5', '0.00005'),
      transcription('elevenlabs', 'scribe_v1', '0.003666666666667'),
      transcription('elevenlabs', 'scribe_v2', '0.003666666666667'),
    ],
  },
  deepgram: {
    page: 'https://deepgram.com/pricing',
    rows: [
      // The multilingual price; English alone costs less.
      transcription('deepgram', 'nova-3', '0.0052'),
      transcription('deepgram', 'nova-2', '0.0043'),
    ],
  },
}

/** Returns the price page of an upstream's media; undefined when it has none here. */
export const mediaPricePage = (upstream: string): string | undefined =>
  lookUp(media, upstream)?.page

/** Creates the media models of one provider. */
export const mediaModels = (upstream: string, marginPercent: number): Model[] =>
  (lookUp(media, upstream)?.rows ?? []).map(({ model, ...listing }) =>
    toModel(listing, [{ upstream, model }], marginPercent),
  )
