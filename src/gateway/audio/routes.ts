import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { mediaSchema } from '../../core/schema.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { mediaOperation } from '../operation.ts'
import * as schemas from './schemas.ts'
import { synthesizeSpeech } from './speech.ts'
import { subtitleTypes } from './subtitles.ts'
import { createTranscription } from './transcriptions.ts'

/** The formats of a transcription that are not JSON. */
const texts = ['text/plain', ...Object.values(subtitleTypes)].map((type) => mediaSchema(type))

/** Routes of speech and transcriptions (document 2, section 4). */
export const audioRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/audio/speech',
      ({ spender, body, request }) => synthesizeSpeech(ctx, spender, body, callOf(request)),
      mediaOperation(
        {
          id: 'create_speech',
          summary: 'Synthesize speech from text.',
          description: 'The response is the audio. X-Service-Cost has the cost in USD.',
          requestBodies: { 'application/json': { schema: schemas.speechRequestSchema } },
        },
        { 200: Type.Union([mediaSchema('audio/*'), schemas.SpeechEventsSchema]) },
        ['not_found'],
      ),
    )
    .post(
      '/audio/transcriptions',
      ({ spender, request }) => createTranscription(ctx, spender, request, callOf(request)),
      mediaOperation(
        {
          id: 'create_transcription',
          input: 'handler',
          summary: 'Transcribe audio.',
          description: 'At most 32 MB. Charged by length; cost is in USD.',
          requestBodies: { 'multipart/form-data': { schema: schemas.transcriptionRequestSchema } },
        },
        {
          200: Type.Union([schemas.TranscriptionSchema, ...texts, schemas.TranscriptEventsSchema]),
        },
      ),
    )
    .post(
      '/audio/translations',
      ({ spender, request }) =>
        createTranscription(ctx, spender, request, callOf(request), '/audio/translations'),
      mediaOperation(
        {
          id: 'create_translation',
          input: 'handler',
          summary: 'Transcribe audio in English.',
          description: 'As a transcription, without `language`. Needs a model that translates.',
          requestBodies: { 'multipart/form-data': { schema: schemas.translationRequestSchema } },
        },
        { 200: Type.Union([schemas.TranscriptionSchema, ...texts]) },
      ),
    )
