import type { Envelope } from '../envelope.ts'
import { eventOf } from './events.ts'

/**
 * How a stream ended. `empty`: [DONE] without content; `failed`: the upstream's own error event;
 * `broken`: cut, unreadable, or closed without [DONE].
 */
export type StreamEnd = 'done' | 'empty' | 'filtered' | 'failed' | 'broken' | 'deadline' | 'client'

const carried = 'What came until here was charged, with its prompt.'

const words: { [E in Exclude<StreamEnd, 'done' | 'client'>]: string } = {
  empty: 'The model returned no content. Nothing was charged.',
  filtered: `The provider declined this under its content rules. ${carried}`,
  failed: `The provider failed while it answered. ${carried}`,
  broken: `The answer of the provider broke off. ${carried}`,
  deadline: `The model exceeded the deadline. ${carried}`,
}

/** The event that ends a stream which cannot go on (document 2, section 6); no [DONE] follows. */
export function errorEvent(end: keyof typeof words): Uint8Array {
  const [type, code] =
    end === 'filtered'
      ? ['invalid_request_error', 'content_policy_violation']
      : ['api_error', 'upstream_stream_error']
  const body: Envelope = { error: { message: words[end], type, param: null, code } }
  return eventOf(body)
}
