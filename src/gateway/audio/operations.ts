import { Type } from '@sinclair/typebox'

import { mediaSchema } from '../../kernel/schema.ts'
import { key } from '../authentication.ts'
import { callOf, requestOf, unread } from '../call.ts'
import { mediaErrors, operation } from '../operation.ts'
import * as schemas from './schemas.ts'
import { synthesizeSpeech } from './speech.ts'
import { subtitleTypes } from './subtitles.ts'
import * as transcriptions from './transcriptions.ts'

/** The formats of a transcription that are not JSON. */
const texts = ['text/plain', ...Object.values(subtitleTypes)].map((type) => mediaSchema(type))

const createSpeech = operation({
  id: 'create_speech',
  route: 'POST /audio/speech',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Synthesize speech from text.',
  description: 'The response is the audio. X-Service-Cost has the cost in USD.',
  access: key,
  input: { bodies: { 'application/json': { schema: schemas.speechRequestSchema } } },
  output: {
    200: Type.Unsafe<Response>(Type.Union([mediaSchema('audio/*'), schemas.SpeechEventsSchema])),
  },
  errors: [...mediaErrors, 'not_found'],
  run: (ctx, { caller: spender, body, ...call }) =>
    synthesizeSpeech(ctx, spender, body, callOf(call)),
})

const createTranscription = operation({
  id: 'create_transcription',
  route: 'POST /audio/transcriptions',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Transcribe audio.',
  description:
    'At most 32 MB. Charged by length; cost is in USD. The SDK of Mistral gets its own format.',
  access: key,
  input: {
    read: requestOf,
    bodies: { 'multipart/form-data': { schema: schemas.transcriptionRequestSchema } },
  },
  output: {
    200: Type.Unsafe<Response>(
      Type.Union([schemas.TranscriptionSchema, ...texts, schemas.TranscriptEventsSchema]),
    ),
  },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    transcriptions.createTranscription(ctx, spender, unread(body), callOf(call)),
})

const createTranslation = operation({
  id: 'create_translation',
  route: 'POST /audio/translations',
  tag: 'Media',
  idempotent: true,
  limits: ['holds_limit'],
  summary: 'Transcribe audio in English.',
  description: 'As a transcription, without `language`. Needs a model that translates.',
  access: key,
  input: {
    read: requestOf,
    bodies: { 'multipart/form-data': { schema: schemas.translationRequestSchema } },
  },
  output: { 200: Type.Unsafe<Response>(Type.Union([schemas.TranscriptionSchema, ...texts])) },
  errors: mediaErrors,
  run: (ctx, { caller: spender, body, ...call }) =>
    transcriptions.createTranscription(
      ctx,
      spender,
      unread(body),
      callOf(call),
      '/audio/translations',
    ),
})

/** Routes of speech and transcriptions (document 2, section 4). */
export const audioOperations = [createSpeech, createTranscription, createTranslation]
