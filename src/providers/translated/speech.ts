import type { SpeechModelV4 } from '@ai-sdk/provider'

import { refuse, textIn } from '../answer.ts'
import { wav } from '../wav.ts'
import type { Kind } from './kinds.ts'

const hertz = 24_000

/** A text as speech; a WAV is made here of a provider's bare samples where it has no other. */
export async function speak(
  model: SpeechModelV4,
  body: Record<string, unknown>,
  { speech = {} }: Kind,
  signal: AbortSignal,
): Promise<Response> {
  const format = textIn(body.response_format) || 'mp3'
  const outputFormat = speech[format]
  if (outputFormat === undefined) return refuse(400, `This model does not make ${format}.`)
  const { voice, instructions, speed } = body
  const { audio } = await model.doGenerate({
    text: textIn(body.input),
    outputFormat,
    abortSignal: signal,
    ...(typeof voice === 'string' && { voice }),
    ...(typeof instructions === 'string' && { instructions }),
    ...(typeof speed === 'number' && { speed }),
  })
  const bytes = new Uint8Array(typeof audio === 'string' ? Buffer.from(audio, 'base64') : audio)
  const isBare = format === 'wav' && outputFormat.startsWith('pcm')
  return new Response(isBare ? wav(bytes, hertz) : bytes, {
    headers: { 'content-type': 'application/octet-stream' },
  })
}
