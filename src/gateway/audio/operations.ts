import { mediaSchema } from '../../kernel/schema.ts'
import { mediaErrors, paidOperation, paidUpload } from '../operation.ts'
import * as schemas from './schemas.ts'
import { synthesizeSpeech } from './speech.ts'
import { subtitleTypes } from './subtitles.ts'
import * as transcriptions from './transcriptions.ts'

/** The formats of a transcription that are not JSON. */
const texts = ['text/plain', ...Object.values(subtitleTypes)].map((type) => mediaSchema(type))

const createSpeech = paidOperation({
  id: 'create_speech',
  route: 'POST /audio/speech',
  tag: 'Media',
  summary: 'Synthesize speech from text.',
  description: 'The response is the audio. X-Service-Cost has the cost in USD.',
  input: schemas.speechRequestSchema,
  output: [mediaSchema('audio/*'), schemas.SpeechEventsSchema],
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
  input: { 'multipart/form-data': schemas.transcriptionRequestSchema },
  output: [schemas.TranscriptionSchema, ...texts, schemas.TranscriptEventsSchema],
  errors: mediaErrors,
  run: (ctx, spender, request, call) =>
    transcriptions.createTranscription(ctx, spender, request, call),
})

const createTranslation = paidUpload({
  id: 'create_translation',
  route: 'POST /audio/translations',
  tag: 'Media',
  summary: 'Transcribe audio in English.',
  description: 'As a transcription, without `language`. Needs a model that translates.',
  input: { 'multipart/form-data': schemas.translationRequestSchema },
  output: [schemas.TranscriptionSchema, ...texts],
  errors: mediaErrors,
  run: (ctx, spender, request, call) =>
    transcriptions.createTranscription(ctx, spender, request, call, '/audio/translations'),
})

/** Routes of speech and transcriptions (document 2, section 4). */
export const audioOperations = [createSpeech, createTranscription, createTranslation]
