import type { SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider'

import { type Json, lookUp } from '../../core/schema.ts'
import { asString, errorResponse } from '../response.ts'
import { encodeWav } from '../wav.ts'
import type { ProviderKind } from './provider-kinds.ts'

const hertz = 24_000

/** Synthesizes speech. Raw samples are wrapped as WAV for a provider without WAV output. */
export async function synthesizeSpeech(
  model: SpeechModelV4,
  body: Json,
  { speechFormats: speech = {} }: ProviderKind,
  signal: AbortSignal,
): Promise<Response> {
  const format = asString(body.response_format) || 'mp3'
  const outputFormat = lookUp(speech, format)
  if (outputFormat === undefined)
    return errorResponse(400, `This model does not support the format ${format}.`)
  const { voice, instructions, speed } = body
  const { audio } = await model.doGenerate({
    text: asString(body.input),
    outputFormat,
    abortSignal: signal,
    ...(typeof voice === 'string' && { voice }),
    ...(typeof instructions === 'string' && { instructions }),
    ...(typeof speed === 'number' && { speed }),
  })
  const bytes = new Uint8Array(typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio)
  const isRaw = format === 'wav' && outputFormat.startsWith('pcm')
  return new Response(isRaw ? encodeWav(bytes, hertz) : bytes, {
    headers: { 'content-type': 'application/octet-stream' },
  })
}

/** Transcribes audio. The response has segments and, when the provider sends it, the length. */
export async function transcribe(
  model: TranscriptionModelV4,
  form: FormData,
  kind: ProviderKind,
  signal: AbortSignal,
): Promise<Response> {
  const file = form.get('file')
  if (!(file instanceof Blob)) return errorResponse(400, 'Send the audio in the field "file".')
  const language = form.get('language')
  const { text, segments, durationInSeconds, ...result } = await model.doGenerate({
    audio: new Uint8Array(await file.arrayBuffer()),
    mediaType: file.type || 'audio/mpeg',
    abortSignal: signal,
    providerOptions:
      kind.languageOptions?.(typeof language === 'string' ? language : undefined) ?? {},
  })
  return Response.json({
    text,
    language: result.language ?? language,
    duration: durationInSeconds,
    segments: segments.map(({ text, startSecond, endSecond }, id) => {
      return { id, start: startSecond, end: endSecond, text }
    }),
    ...(durationInSeconds && { usage: { type: 'duration', seconds: durationInSeconds } }),
  })
}
