import { isRecord, itemsOf, type Json } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

const isNothing = (value: unknown): boolean => value === undefined || value === null
const isOff = (value: unknown): boolean => isNothing(value) || value === false
const isOneOf =
  (...values: unknown[]) =>
  (value: unknown): boolean =>
    isNothing(value) || values.includes(value)

/** Tiers at the published price or below it. */
const tiers = ['auto', 'default', 'flex', 'on_demand', 'standard', 'standard_only']

/** Fields by name, with the check for values that cost nothing. */
type Fields = Record<string, (value: unknown) => boolean>

/** Audio and images as output, faster tiers, and searches, code or models of the upstream. */
const chat: Fields = {
  audio: isNothing,
  best_of: isOneOf(1),
  compound_custom: isNothing,
  data_sources: isNothing,
  enable_code_interpreter: isOff,
  enable_search: isOff,
  forced_search: isOff,
  image_config: isNothing,
  inference_geo: isOneOf('global'),
  modalities: (value) => isNothing(value) || itemsOf(value).every((word) => word === 'text'),
  plugins: (value) => itemsOf(value).every((plugin) => isRecord(plugin) && plugin.id === 'web'),
  safety_model: isNothing,
  search_settings: isNothing,
  service_tier: isOneOf(...tiers),
  speed: isOneOf('standard', 1),
}

/** More or larger images than `n` and `size` name, more steps, and searches. */
const image: Fields = {
  batch_size: isOneOf(1),
  enable_search: isOff,
  frame_count: isOneOf(1),
  num_images: isOneOf(1),
  num_inference_steps: isNothing,
  partial_images: isOneOf(0),
  resolution: isNothing,
  steps: isNothing,
}

/** More or larger videos than `seconds` and `size` name, and audio. Forms contain text. */
const video: Fields = {
  fps: isNothing,
  generate_audio: isOneOf(false, 'false'),
  n: isOneOf(1, '1'),
  num_videos: isOneOf(1, '1'),
  quality: isNothing,
  resolution: isNothing,
}

const fieldsByType = {
  chat: Object.entries(chat),
  image: Object.entries(image),
  video: Object.entries(video),
}

/** Throws `bad_request` for a field that makes an upstream bill more than a hold covers. */
export function rejectUnpricedFields(body: Json, type: keyof typeof fieldsByType): void {
  for (const [name, isFree] of fieldsByType[type]) {
    if (isFree(body[name])) continue
    const isSearch = type === 'chat' && name.includes('search')
    const hint = isSearch ? ' Send web_search for a search.' : ''
    const problem = `${name} costs more than the price of a model covers. Remove it.${hint}`
    throw invalidField(name, problem)
  }
}
