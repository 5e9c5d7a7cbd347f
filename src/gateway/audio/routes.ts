import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { mediaSchema } from '../../core/schema.ts'
import { keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { keyOperation } from '../operation.ts'
import { mediaErrors } from '../paid/media.ts'
import * as schemas from './schemas.ts'
import { synthesizeSpeech } from './speech.ts'
import { createTranscription } from './transcriptions.ts'

/** Routes of speech and transcriptions (document 2, section 4). */
export const audioRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/audio/speech',
      ({ spender, body, request }) => synthesizeSpeech(ctx, spender, body, callOf(request)),
      keyOperation(
        {
          id: 'create_speech',
          tag: 'Media',
          idempotent: true,
          limits: ['holds_limit'],
          summary: 'Synthesize speech from text',
          description: 'The response is the audio. X-Service-Cost has the cost in USD.',
          requestBodies: { 'application/json': { schema: schemas.speechRequestSchema } },
        },
        { 200: mediaSchema('audio/*') },
        [...mediaErrors, 'not_found'],
      ),
    )
    .post(
      '/audio/transcriptions',
      ({ spender, request }) => createTranscription(ctx, spender, request, callOf(request)),
      keyOperation(
        {
          id: 'create_transcription',
          tag: 'Media',
          idempotent: true,
          limits: ['holds_limit'],
          input: 'handler',
          summary: 'Transcribe audio',
          description: 'At most 32 MB. Charged by length; cost is in USD.',
          requestBodies: { 'multipart/form-data': { schema: schemas.transcriptionRequestSchema } },
        },
        {
          200: Type.Unsafe<Response>(
            Type.Union([schemas.TranscriptionSchema, mediaSchema('text/plain')]),
          ),
        },
        mediaErrors,
      ),
    )
    .post(
      '/audio/translations',
      ({ spender, request }) =>
        createTranscription(ctx, spender, request, callOf(request), '/audio/translations'),
      keyOperation(
        {
          id: 'create_translation',
          tag: 'Media',
          idempotent: true,
          limits: ['holds_limit'],
          input: 'handler',
          summary: 'Transcribe audio in English',
          description: 'As a transcription, without `language`. Needs a model that translates.',
          requestBodies: { 'multipart/form-data': { schema: schemas.translationRequestSchema } },
        },
        {
          200: Type.Unsafe<Response>(
            Type.Union([schemas.TranscriptionSchema, mediaSchema('text/plain')]),
          ),
        },
        mediaErrors,
      ),
    )
