import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { Media } from '../../core/schema.ts'
import { callOf } from '../call.ts'
import { theSpender, withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { paidRefusals } from '../paid/pay.ts'
import * as schemas from './schemas.ts'
import { synthesizeSpeech } from './speech.ts'
import { createTranscription } from './transcriptions.ts'

/** Speech and what was said (document 2, section 4). */
export const audioRoutes = (ctx: AppContext) =>
  new Elysia().use(speechRoute(ctx)).use(transcriptionRoute(ctx))

const speechRoute = (ctx: AppContext) =>
  new Elysia().use(withKey(ctx)).post(
    '/audio/speech',
    ({ spender, body, request }) => synthesizeSpeech(ctx, spender, body, callOf(request)),
    operation(
      {
        id: 'create_speech',
        tag: 'Media',
        summary: 'Speak a text.',
        more: 'The answer is the sound; X-Service-Cost tells what it cost, in USD.',
        takes: { 'application/json': { schema: schemas.speechRequestSchema } },
      },
      { 200: Media('audio/*') },
      [...paidRefusals, 'not_found'],
    ),
  )

const transcriptionRoute = (ctx: AppContext) =>
  new Elysia()
    .derive(async ({ request }) => ({ spender: await theSpender(ctx, request) }))
    .post(
      '/audio/transcriptions',
      ({ spender, request }) => createTranscription(ctx, spender, request, callOf(request)),
      {
        // The body is read in the handler, when the key is known.
        parse: 'none',
        ...operation(
          {
            id: 'create_transcription',
            tag: 'Media',
            summary: 'Write down what is said in a sound.',
            more: 'At most 32 MB. Paid by its length: cost tells it, in USD.',
            takes: { 'multipart/form-data': { schema: schemas.transcriptionRequestSchema } },
          },
          {
            200: Type.Unsafe<Response>(
              Type.Union([schemas.TranscriptionSchema, Media('text/plain')]),
            ),
          },
          paidRefusals,
        ),
      },
    )
