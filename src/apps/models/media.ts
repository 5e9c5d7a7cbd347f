import type { UsageBounds } from '../../gateway/models/charge.ts'
import { maxInputTokens } from '../../gateway/models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../../gateway/models/usage.ts'
import { unknownOutputTokens } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import {
  callModel,
  NoModelResult,
  readBytes,
  readJsonObject,
  type ServiceModel,
} from './model-call.ts'

export interface GeneratedMedia {
  bytes: Uint8Array<ArrayBuffer>
  usage: Usage
}

/** Seconds of an effect or a piece of music; speech takes at most one second per character. */
const soundSecondsMax = 60

/** Returns the maximum usage of one image or one audio file of this text. */
export function mediaBounds({ model }: ServiceModel, text: string): UsageBounds {
  const inputTokensMax = maxInputTokens({ text }, 0)
  const outputTokensMax = model.maxOutput || unknownOutputTokens
  if (model.type === 'image') return { inputTokensMax, outputTokensMax, images: 1 }
  const seconds = Math.max(soundSecondsMax, text.length)
  return { inputTokensMax, outputTokensMax: 0, characters: text.length, seconds }
}

/** Generates an image. Throws NoModelResult. */
export async function generateImage(
  ctx: AppContext,
  by: ServiceModel,
  prompt: string,
  signal: AbortSignal,
) {
  const body = { prompt, n: 1, response_format: 'b64_json' }
  const response = await readJsonObject(
    await callModel(ctx, by, { path: '/images/generations', body, signal }),
  )
  const [first]: unknown[] = Array.isArray(response['data']) ? response['data'] : []
  const base64 = isRecord(first) ? first['b64_json'] : undefined
  if (typeof base64 !== 'string') throw new NoModelResult('the response has no image')
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const { inputTokensMax, outputTokensMax } = mediaBounds(by, prompt)
  const reported = readUsage(response['usage'], {
    prompt: inputTokensMax,
    completion: outputTokensMax,
  })
  return { bytes, usage: { ...(reported ?? createUsage({})), images: 1 } } satisfies GeneratedMedia
}

/** Generates speech, an effect or music. The caller measures its duration. Throws NoModelResult. */
export async function generateSpeech(
  ctx: AppContext,
  by: ServiceModel,
  { what, voice = 'alloy' }: { what: string; voice?: string | undefined },
  signal: AbortSignal,
): Promise<GeneratedMedia> {
  const body = { input: what, voice, response_format: 'mp3' }
  const response = await callModel(ctx, by, { path: '/audio/speech', body, signal })
  const bytes = await readBytes(response)
  return { bytes, usage: createUsage({ characters: what.length }) }
}
