import type { UpstreamCall } from './upstream.ts'

/** Fields that an adapter sets itself, and fields of this gateway. */
const ownFields = ['model', 'stream', 'stream_options']

/** Returns the fields of a request that have a value and are not among those of an upstream. */
export function ignoredFields(
  body: UpstreamCall['body'],
  isKnown: (name: string) => boolean,
): string[] {
  const isIgnored = (name: string): boolean => !isKnown(name) && !ownFields.includes(name)
  if (!(body instanceof FormData)) {
    return Object.keys(body).filter((name) => isIgnored(name) && (body[name] ?? null) !== null)
  }
  // OpenAI's clients write lists as name[].
  const names = new Set([...body.keys()].map((name) => name.replace(/\[\]$/, '')))
  return [...names].filter(isIgnored)
}
