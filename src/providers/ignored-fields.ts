import type { UpstreamCall } from './upstream.ts'

/** Fields that an adapter sets itself, and fields of this gateway. */
const ownFields = ['model', 'stream', 'stream_options']

/** Returns the fields of a request that have a value and are not among those of an upstream. */
export function ignoredFields(
  body: UpstreamCall['body'],
  isKnown: (name: string) => boolean,
): string[] {
  const entries = body instanceof FormData ? [...body.entries()] : Object.entries(body)
  const sent = entries.filter(([, value]) => value !== undefined && value !== null)
  // OpenAI's clients write lists as name[].
  const names = new Set(sent.map(([name]) => name.replace(/\[\]$/, '')))
  return [...names].filter((name) => !ownFields.includes(name) && !isKnown(name))
}
