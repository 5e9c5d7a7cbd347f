import type { Model } from '../models/catalogue.ts'
import type { ModelType, PriceTexts } from '../models/price.ts'
import { mediaScripts } from './fake-media.ts'
import { scripts } from './fake-scripts.ts'
import { testModel } from './models.ts'

/** A kind of paid work that is not chat's, as its tests name its models: "image/429". */
export type MediaKind = 'embedding' | 'image' | 'speech' | 'transcription'

const about: Record<MediaKind, Partial<Model> & { type: ModelType }> = {
  embedding: { type: 'embedding', outputs: ['embedding'], contextLength: 8_192 },
  image: { type: 'image', outputs: ['image'] },
  speech: { type: 'audio', outputs: ['audio'] },
  transcription: { type: 'audio', inputs: ['audio'], outputs: ['text'] },
}

export const mediaPrices: Record<MediaKind, PriceTexts> = {
  embedding: { prompt: '0.000001' },
  image: { per_image: '0.02' },
  speech: { per_character: '0.00001' },
  transcription: { per_minute: '0.06' },
}

/** A model whose upstream does one script of the fake upstream. */
export function mediaModel(kind: MediaKind, script: string, price?: PriceTexts): Model {
  const id = `${kind}/${script}${price ? '-priced' : ''}`
  const model = testModel(price ?? mediaPrices[kind], { ...about[kind], id, maxOutput: 2_000 })
  return { ...model, offers: [{ upstream: script, model: `fake/${script}`, price: model.price }] }
}

/** One for each script of the fake upstream and each kind. */
export const mediaModels = (): Model[] =>
  [...Object.keys(scripts), ...Object.keys(mediaScripts)].flatMap((script) =>
    (['embedding', 'image', 'speech', 'transcription'] as const).map((kind) =>
      mediaModel(kind, script),
    ),
  )
