import type { Json } from '../../kernel/schema.ts'
import { encodeEvent } from '../events.ts'

const encodeDelta = (bytes: Uint8Array): Uint8Array =>
  encodeEvent({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') })

/**
 * Converts audio into the events of OpenAI's `stream_format: "sse"`. A stream that breaks off has
 * no `speech.audio.done`.
 */
export const toSpeechEvents = (
  audio: ReadableStream<Uint8Array>,
  usage: Json,
): ReadableStream<Uint8Array> =>
  audio.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, out) => out.enqueue(encodeDelta(bytes)),
      flush: (out) => out.enqueue(encodeEvent({ type: 'speech.audio.done', usage })),
    }),
  )
