import type { AppContext } from '../../context.ts'
import { isRecord } from '../../core/schema.ts'
import { unknownOutputTokens } from '../../limits.ts'
import type { UsageBounds } from '../../models/charge.ts'
import { maxInputTokens } from '../../models/tokens.ts'
import { readUsage, type Usage, createUsage } from '../../models/usage.ts'
import { callModel, readBytes, type ServiceModel, NoModelResult, readJsonObject } from './model-call.ts'

/** What a model made, and what it used. */
export interface GeneratedMedia {
  bytes: Uint8Array<ArrayBuffer>
  usage: Usage
}

/** A spoken character takes a second at the most; an effect or a piece of music a minute. */
const soundSecondsMax = 60

/** The most that one picture or one sound of this text uses. */
export function mediaBounds({ model }: ServiceModel, text: string): UsageBounds {
  const inputTokensMax = maxInputTokens({ text }, 0)
  const outputTokensMax = model.maxOutput || unknownOutputTokens
  if (model.type === 'image') return { inputTokensMax, outputTokensMax, images: 1 }
  const seconds = Math.max(soundSecondsMax, text.length)
  return { inputTokensMax, outputTokensMax: 0, characters: text.length, seconds }
}

/** One picture of a prompt, as bytes. Throws NoAnswer. */
export async function generateImage(ctx: AppContext, by: ServiceModel, prompt: string, signal: AbortSignal) {
  const body = { prompt, n: 1, response_format: 'b64_json' }
  const answer = await readJsonObject(await callModel(ctx, by, { path: '/images/generations', body, signal }))
  const [first]: unknown[] = Array.isArray(answer['data']) ? answer['data'] : []
  const base64 = isRecord(first) ? first['b64_json'] : undefined
  if (typeof base64 !== 'string') throw new NoModelResult('no picture came')
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const { inputTokensMax, outputTokensMax } = mediaBounds(by, prompt)
  const told = readUsage(answer['usage'], { prompt: inputTokensMax, completion: outputTokensMax })
  return { bytes, usage: { ...(told ?? createUsage({})), images: 1 } } satisfies GeneratedMedia
}

/** A spoken line, an effect or music, as a file; its seconds are told by who reads it. */
export async function generateSpeech(
  ctx: AppContext,
  by: ServiceModel,
  { what, voice = 'alloy' }: { what: string; voice?: string | undefined },
  signal: AbortSignal,
): Promise<GeneratedMedia> {
  const body = { input: what, voice, response_format: 'mp3' }
  const answer = await callModel(ctx, by, { path: '/audio/speech', body, signal })
  const bytes = await readBytes(answer)
  return { bytes, usage: createUsage({ characters: what.length }) }
}
