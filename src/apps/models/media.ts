import type { UsageBounds } from '../../gateway/models/charge.ts'
import { maxInputTokens } from '../../gateway/models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../../gateway/models/usage.ts'
import { readFile, readJsonObject } from '../../gateway/paid/response-body.ts'
import { interruptionOf, noContent, unreadable } from '../../gateway/paid/upstream-failure.ts'
import type { AppContext } from '../../kernel/context.ts'
import { unknownOutputTokens } from '../../kernel/limits.ts'
import { itemsOf, recordOf } from '../../kernel/schema.ts'
import { callModel, NoModelResult, type ServiceModel } from './model-call.ts'

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
  const call = { path: '/images/generations', body, signal } as const
  const { json } = await callModel(ctx, by, call, readJsonObject)
  const { b64_json: base64 } = recordOf(itemsOf(json.data)[0])
  if (typeof base64 !== 'string') throw new NoModelResult('the response has no image')
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const { inputTokensMax, outputTokensMax } = mediaBounds(by, prompt)
  const reported = readUsage(json.usage, {
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
  const call = { path: '/audio/speech', body, signal } as const
  const bytes = await callModel(ctx, by, call, async (received, deadlines) => {
    if ('json' in received) return unreadable
    const read = await readFile(received, deadlines)
    if (!read) return interruptionOf(deadlines)
    return read.byteLength === 0 ? noContent : new Uint8Array(read)
  })
  return { bytes, usage: createUsage({ characters: what.length }) }
}
