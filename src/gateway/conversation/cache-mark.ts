import { isRecord, type Json } from '../../kernel/schema.ts'

/** Anthropic's mark of the end of a cached prompt, which several APIs have. */

/** Returns whether a message, or a part of it, is marked for the cache. */
export const isMarked = ({ cache_control: mark }: Json): boolean =>
  isRecord(mark) && mark.type === 'ephemeral'

/** Returns a mark with the default lifetime. */
export const markOf = (isCached: boolean | undefined): Json =>
  isCached ? { cache_control: { type: 'ephemeral' } } : {}

/** Removes the lifetime of a mark: an hour in the cache costs more than the price covers. */
export function withoutTtl(value: Json): Json {
  if (!isRecord(value.cache_control)) return value
  const { ttl: _, ...cache_control } = value.cache_control
  return { ...value, cache_control }
}
