import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject, mediaSchema } from '../../core/schema.ts'
import { promptCharsMax, speechCharsMax } from '../../limits.ts'
import { speechFormats } from './speech.ts'
import { transcriptionFormats } from './transcription-request.ts'

/** The body of a speech request, which speech.ts parses. */
export const speechRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'input'],
  properties: {
    model: { type: 'string', description: 'The id of a speech model.' },
    input: { type: 'string', minLength: 1, maxLength: speechCharsMax },
    voice: { type: 'string', description: 'A voice of the model.' },
    format: { type: 'string', enum: [...speechFormats], default: 'mp3' },
    response_format: {
      type: 'string',
      enum: [...speechFormats],
      description: 'Alias of format.',
    },
    stream_format: { type: 'string', enum: ['audio', 'sse'], default: 'audio' },
  },
}

/** The body of a transcription request, which transcription-request.ts parses. */
export const transcriptionRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'file'],
  properties: {
    model: { type: 'string', description: 'The id of a transcription model.' },
    file: { type: 'string', format: 'binary' },
    language: { type: 'string', description: 'ISO 639 code, as a hint.' },
    prompt: { type: 'string', maxLength: promptCharsMax },
    response_format: { type: 'string', enum: [...transcriptionFormats], default: 'json' },
    stream: { type: 'boolean', description: 'Sends the text as events.' },
  },
}

const {
  language: _,
  stream: _stream,
  ...translationProperties
} = transcriptionRequestSchema.properties ?? {}

/** The body of a translation request. */
export const translationRequestSchema: OpenAPIV3.SchemaObject = {
  ...transcriptionRequestSchema,
  properties: translationProperties,
}

/** A transcription with its cost (document 2, POST /v1/audio/transcriptions). */
export const TranscriptionSchema = Type.Object(
  { text: Type.String(), cost: Type.Number({ description: 'USD' }) },
  { title: 'Transcription', additionalProperties: true },
)

export const SpeechEventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream_format` sse: speech.audio.delta events, then speech.audio.done.',
})

export const TranscriptEventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: transcript.text.delta events, then transcript.text.done.',
})
