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

/** Speech and what was said (document 2, section 4). */
export const audioRoutes = (ctx: AppContext) =>
  new Elysia().use(speechRoute(ctx)).use(transcriptionRoute(ctx))

const speechRoute = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/audio/speech',
    ({ spender, body, request }) => synthesizeSpeech(ctx, spender, body, callOf(request)),
    keyOperation(
      {
        id: 'create_speech',
        tag: 'Media',
        summary: 'Speak a text.',
        more: 'The answer is the sound; X-Service-Cost tells what it cost, in USD.',
        takes: { 'application/json': { schema: schemas.speechRequestSchema } },
      },
      { 200: mediaSchema('audio/*') },
      [...mediaErrors, 'not_found'],
    ),
  )

const transcriptionRoute = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/audio/transcriptions',
      ({ spender, request }) => createTranscription(ctx, spender, request, callOf(request)),
      {
        ...keyOperation(
          {
            id: 'create_transcription',
            tag: 'Media',
            input: 'handler',
            summary: 'Write down what is said in a sound.',
            more: 'At most 32 MB. Paid by its length: cost tells it, in USD.',
            takes: { 'multipart/form-data': { schema: schemas.transcriptionRequestSchema } },
          },
          {
            200: Type.Unsafe<Response>(
              Type.Union([schemas.TranscriptionSchema, mediaSchema('text/plain')]),
            ),
          },
          mediaErrors,
        ),
      },
    )
