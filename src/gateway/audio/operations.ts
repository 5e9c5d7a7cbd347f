import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { promptCharsMax, speechCharsMax } from '../../kernel/limits.ts'
import { anyObject, mediaSchema, namedObject } from '../../kernel/schema.ts'
import { mediaErrors, paidOperation, paidUpload } from '../operation.ts'
import { modelSchema } from '../request-schemas.ts'
import { speechFormats, synthesizeSpeech } from './speech.ts'
import {
  readTranscriptionForm,
  subtitleTypes,
  transcriptionFormats,
} from './transcription-request.ts'
import * as transcriptions from './transcriptions.ts'

/** The body of a speech request, which speech.ts parses. */
export const speechRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'input'],
  properties: {
    model: modelSchema('The id of a speech model.'),
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
  anyOf: [
    { properties: { format: { not: {} } } },
    { properties: { response_format: { not: {} } } },
    ...speechFormats.map((format) => ({
      properties: { format: { enum: [format] }, response_format: { enum: [format] } },
    })),
  ],
}

/** The body of a transcription request, which transcription-request.ts parses. */
export const transcriptionRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'file'],
  properties: {
    model: modelSchema('The id of a transcription model.'),
    file: { type: 'string', format: 'binary', minLength: 1 },
    language: {
      type: 'string',
      pattern: '^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$',
      description: 'ISO 639 code, as a hint.',
    },
    prompt: { type: 'string', maxLength: promptCharsMax },
    response_format: { type: 'string', enum: [...transcriptionFormats], default: 'json' },
    stream: { type: 'boolean', description: 'Sends the text as events.' },
  },
  anyOf: [
    { properties: { stream: { enum: [false] } } },
    { properties: { response_format: { enum: ['json'] } } },
  ],
}

const {
  language: _,
  stream: _stream,
  ...translationProperties
} = transcriptionRequestSchema.properties ?? {}

/** The body of a translation request. */
export const translationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'file'],
  properties: translationProperties,
}

/** A transcription with its cost (document 2, POST /v1/audio/transcriptions). */
export const TranscriptionSchema = namedObject(
  'Transcription',
  { text: Type.String(), cost: Type.Number({ description: 'USD' }) },
  { additionalProperties: true },
)

export const SpeechEventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream_format` sse: speech.audio.delta events, then speech.audio.done.',
})

export const TranscriptEventsSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: transcript.text.delta events, then transcript.text.done.',
})

/** The formats of a transcription that are not JSON. */
const texts = ['text/plain', ...Object.values(subtitleTypes)].map((type) => mediaSchema(type))

const createSpeech = paidOperation({
  id: 'create_speech',
  route: 'POST /audio/speech',
  tag: 'Media',
  summary: 'Synthesize speech from text.',
  description: 'The response is the audio. X-Service-Cost has the cost in USD.',
  input: speechRequestSchema,
  output: [mediaSchema('audio/*'), SpeechEventsSchema],
  errors: [...mediaErrors, 'not_found'],
  run: synthesizeSpeech,
})

const createTranscription = paidUpload({
  id: 'create_transcription',
  route: 'POST /audio/transcriptions',
  tag: 'Media',
  summary: 'Transcribe audio.',
  description:
    'At most 32 MB. Charged by length; cost is in USD. The SDK of Mistral gets its own format.',
  input: { 'multipart/form-data': transcriptionRequestSchema },
  output: [TranscriptionSchema, ...texts, TranscriptEventsSchema],
  errors: mediaErrors,
  read: readTranscriptionForm,
  run: (ctx, spender, form, call) => transcriptions.createTranscription(ctx, spender, form, call),
})

const createTranslation = paidUpload({
  id: 'create_translation',
  route: 'POST /audio/translations',
  tag: 'Media',
  summary: 'Transcribe audio in English.',
  description: 'As a transcription, without `language`. Needs a model that translates.',
  input: { 'multipart/form-data': translationRequestSchema },
  output: [TranscriptionSchema, ...texts],
  errors: mediaErrors,
  read: readTranscriptionForm,
  run: (ctx, spender, form, call) =>
    transcriptions.createTranscription(ctx, spender, form, call, '/audio/translations'),
})

/** Routes of speech and transcriptions (document 2, section 4). */
export const audioOperations = [createSpeech, createTranscription, createTranslation]
