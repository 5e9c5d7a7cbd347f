import type { TranscriptionModelV4 } from '@ai-sdk/provider'

import { errorResponse } from '../response.ts'
import type { ProviderKind } from './provider-kinds.ts'

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
