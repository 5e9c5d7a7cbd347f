import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { Media } from '../../core/shape.ts'
import type { House } from '../../house.ts'
import { callOf } from '../call.ts'
import { theSpender, withKey } from '../key.ts'
import { operation } from '../operation.ts'
import { paidRefusals } from '../paid/pay.ts'
import * as shapes from './shapes.ts'
import { speak } from './speech.ts'
import { listen } from './transcriptions.ts'

/** Speech and what was said (document 2, section 4). */
export const audioRoutes = (house: House) =>
  new Elysia().use(speechRoute(house)).use(transcriptionRoute(house))

const speechRoute = (house: House) =>
  new Elysia().use(withKey(house)).post(
    '/audio/speech',
    ({ spender, body, request }) => speak(house, spender, body, callOf(request)),
    operation(
      {
        id: 'create_speech',
        tag: 'Media',
        summary: 'Speak a text.',
        more: 'The answer is the sound; X-Service-Cost tells what it cost, in USD.',
        takes: { 'application/json': { schema: shapes.speechWanted } },
      },
      { 200: Media('audio/*') },
      [...paidRefusals, 'not_found'],
    ),
  )

const transcriptionRoute = (house: House) =>
  new Elysia()
    .derive(async ({ request }) => ({ spender: await theSpender(house, request) }))
    .post(
      '/audio/transcriptions',
      ({ spender, request }) => listen(house, spender, request, callOf(request)),
      {
        // The body is read in the handler, when the key is known.
        parse: 'none',
        ...operation(
          {
            id: 'create_transcription',
            tag: 'Media',
            summary: 'Write down what is said in a sound.',
            more: 'At most 32 MB. Paid by its length: cost tells it, in USD.',
            takes: { 'multipart/form-data': { schema: shapes.transcriptionWanted } },
          },
          { 200: Type.Unsafe<Response>(Type.Union([shapes.Transcription, Media('text/plain')])) },
          paidRefusals,
        ),
      },
    )
