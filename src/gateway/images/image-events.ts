import { type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { encodeEvent, streamResponse } from '../events.ts'
import { costHeader } from '../paid/paid-call.ts'
import { recordsIn } from '../providers/response.ts'

/** The event of a finished image, by operation. */
const eventTypes: Record<string, string> = { '/images/edits': 'image_edit.completed' }

/**
 * Returns the result of a request for images as OpenAI's events, one for each image. Previews of
 * images cost more than the price covers, so there are none.
 */
export function toImageEvents(path: string, result: unknown): Response {
  const { data, created, cost, usage, ...details } = recordOf(result)
  const events = recordsIn(data).map(({ b64_json }): Json => {
    const type = lookUp(eventTypes, path) ?? 'image_generation.completed'
    return { type, b64_json, created_at: created, ...details, usage }
  })
  return streamResponse(new Blob(events.map(encodeEvent)).stream(), costHeader(Number(cost)))
}
