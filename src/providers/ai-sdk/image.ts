import type { ImageModelV4 } from '@ai-sdk/provider'

import { asString } from '../response.ts'
import type { ProviderKind } from './provider-kinds.ts'

type Asked = Parameters<ImageModelV4['doGenerate']>[0]
type Result = Awaited<ReturnType<ImageModelV4['doGenerate']>>

/** A picture's shape, as providers that know no sizes name it. */
const aspectRatios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const

/**
 * Pictures of a prompt, in as many calls as the provider needs: where some of them fail, the
 * pictures that came are the answer. `created`: seconds since 1970.
 */
export async function generateImages(
  model: ImageModelV4,
  body: Record<string, unknown>,
  kind: ProviderKind & { name: string },
  { created, signal }: { created: number; signal: AbortSignal },
): Promise<Response> {
  const count = typeof body.n === 'number' ? body.n : 1
  const most = await mostOf(model)
  const calls = Array.from({ length: Math.ceil(count / most) }, (_, at) =>
    model.doGenerate(askedOf(body, Math.min(most, count - at * most), kind, signal)),
  )
  const results = await Promise.allSettled(calls)
  const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (made.length === 0 && failed) throw failed.reason
  const data = made
    .flatMap(({ images }) => [...images])
    .map((image) => ({ b64_json: base64(image) }))
  return Response.json({ created, data, ...usageOf(made) })
}

async function mostOf({ maxImagesPerCall, modelId }: ImageModelV4): Promise<number> {
  const most =
    typeof maxImagesPerCall === 'function' ? maxImagesPerCall({ modelId }) : maxImagesPerCall
  return (await most) ?? 1
}

function askedOf(
  { prompt, size, seed, negative_prompt: avoided }: Record<string, unknown>,
  n: number,
  { name, usesAspectRatios: isShaped }: ProviderKind & { name: string },
  signal: AbortSignal,
): Asked {
  const sides = /^(\d+)x(\d+)$/.exec(asString(size))
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  return {
    prompt: asString(prompt),
    n,
    size: sides && !isShaped ? `${width}x${height}` : undefined,
    aspectRatio: sides && isShaped ? nearestAspectRatio(width / height) : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    files: undefined,
    mask: undefined,
    providerOptions: typeof avoided === 'string' ? { [name]: { negative_prompt: avoided } } : {},
    abortSignal: signal,
  }
}

const ratioOf = (shape: string): number => {
  const [width = 1, height = 1] = shape.split(':').map(Number)
  return width / height
}

/** The nearest of the shapes. */
export const nearestAspectRatio = (ratio: number): (typeof aspectRatios)[number] =>
  aspectRatios.reduce((best, shape) =>
    Math.abs(Math.log(ratioOf(shape) / ratio)) < Math.abs(Math.log(ratioOf(best) / ratio))
      ? shape
      : best,
  )

const base64 = (image: string | Uint8Array): string =>
  typeof image === 'string' ? image : Buffer.from(image).toString('base64')

/** Tokens, of providers whose pictures are paid by them. */
function usageOf(made: Result[]) {
  const usages = made.flatMap(({ usage }) => usage ?? [])
  if (usages.length === 0) return {}
  const sum = (name: 'inputTokens' | 'outputTokens'): number =>
    usages.reduce((total, usage) => total + (usage[name] ?? 0), 0)
  const [input, output] = [sum('inputTokens'), sum('outputTokens')]
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  return { usage }
}
