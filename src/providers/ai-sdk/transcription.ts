import type { TranscriptionModelV4 } from '@ai-sdk/provider'

import { errorResponse } from '../response.ts'
import type { ProviderKind } from './provider-kinds.ts'

/** What is said in a sound, with its pieces and, where the provider tells it, its length. */
export async function transcribe(
  model: TranscriptionModelV4,
  form: FormData,
  kind: ProviderKind,
  signal: AbortSignal,
): Promise<Response> {
  const file = form.get('file')
  if (!(file instanceof Blob)) return errorResponse(400, 'Send the sound in the field "file".')
  const language = form.get('language')
  const { text, segments, durationInSeconds, ...said } = await model.doGenerate({
    audio: new Uint8Array(await file.arrayBuffer()),
    mediaType: file.type || 'audio/mpeg',
    abortSignal: signal,
    providerOptions:
      kind.languageOptions?.(typeof language === 'string' ? language : undefined) ?? {},
  })
  return Response.json({
    text,
    language: said.language ?? language,
    duration: durationInSeconds,
    segments: segments.map(({ text, startSecond, endSecond }, id) => {
      return { id, start: startSecond, end: endSecond, text }
    }),
    ...(durationInSeconds && { usage: { type: 'duration', seconds: durationInSeconds } }),
  })
}
