import { isRecord, itemsOf, type Json } from '../../core/schema.ts'
import { invalidField } from '../fields.ts'

const isNothing = (value: unknown): boolean => value === undefined || value === null
const isOff = (value: unknown): boolean => isNothing(value) || value === false
const isOneOf =
  (...values: unknown[]) =>
  (value: unknown): boolean =>
    isNothing(value) || values.includes(value)

/** Tiers at the published price or below it. `priority` is left out: it is a preference. */
const tiers = ['auto', 'default', 'flex', 'on_demand', 'standard', 'standard_only', 'priority']

/**
 * Fields that make an upstream bill what no hold covers, with the check for values that do not:
 * audio and images as output, faster tiers, and searches, code or models that run at the upstream.
 */
const isFree: Record<string, (value: unknown) => boolean> = {
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

/** Throws `bad_request` for a field that costs more than the hold of a chat covers. */
export function rejectUnpricedFields(body: Json): void {
  for (const [name, check] of Object.entries(isFree)) {
    if (check(body[name])) continue
    const search = name.includes('search') ? ' Send web_search for a search.' : ''
    const problem = `${name} costs more than the price of a model covers. Remove it.${search}`
    throw invalidField(name, problem)
  }
}
