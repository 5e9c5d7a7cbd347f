import type { ImageModelV4 } from '@ai-sdk/provider'

import type { Json } from '../../core/schema.ts'
import { asString } from '../response.ts'
import type { ProviderKind } from './provider-kinds.ts'

type ImageOptions = Parameters<ImageModelV4['doGenerate']>[0]
type ImageResult = Awaited<ReturnType<ImageModelV4['doGenerate']>>

/** Aspect ratios of providers without exact sizes. */
const aspectRatios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const

/**
 * Generates images, in as many calls as the provider needs. When some calls fail, it returns the
 * images of the others. `created`: seconds since 1970.
 */
export async function generateImages(
  model: ImageModelV4,
  body: Json,
  kind: ProviderKind & { name: string },
  { created, signal }: { created: number; signal: AbortSignal },
  sources: Pick<ImageOptions, 'files' | 'mask'> = { files: undefined, mask: undefined },
): Promise<Response> {
  const count = typeof body.n === 'number' ? body.n : 1
  const perCall = await imagesPerCall(model)
  const calls = Array.from({ length: Math.ceil(count / perCall) }, (_, at) =>
    model.doGenerate({
      ...buildOptions(body, Math.min(perCall, count - at * perCall), kind, signal),
      ...sources,
    }),
  )
  const settled = await Promise.allSettled(calls)
  const results = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = settled.find((one) => one.status === 'rejected')
  if (results.length === 0 && failed) throw failed.reason
  const images = results.flatMap((result) => [...result.images])
  const data = images.map((image) => ({ b64_json: toBase64(image) }))
  return Response.json({ created, data, ...sumUsage(results) })
}

export async function editImages(
  model: ImageModelV4,
  form: FormData,
  kind: ProviderKind & { name: string },
  call: { created: number; signal: AbortSignal },
): Promise<Response> {
  const { prompt, n = 1, size, seed } = Object.fromEntries(form.entries())
  const body = { prompt, size, n: Number(n), ...(seed !== undefined && { seed: Number(seed) }) }
  const images = [...form.getAll('image'), ...form.getAll('image[]')]
  const files = await Promise.all(images.filter((one) => one instanceof File).map(toSource))
  const mask = form.get('mask')
  const sources = { files, mask: mask instanceof File ? await toSource(mask) : undefined }
  return generateImages(model, body, kind, call, sources)
}

const toSource = async (file: File) => ({
  type: 'file' as const,
  mediaType: file.type || 'image/png',
  data: await file.bytes(),
})

async function imagesPerCall({ maxImagesPerCall: max, modelId }: ImageModelV4): Promise<number> {
  return (await (typeof max === 'function' ? max({ modelId }) : max)) ?? 1
}

function buildOptions(
  { prompt, size, seed, negative_prompt }: Json,
  n: number,
  { name, usesAspectRatios }: ProviderKind & { name: string },
  signal: AbortSignal,
): ImageOptions {
  const sides = /^(\d+)x(\d+)$/.exec(asString(size))
  const [width, height] = [Number(sides?.[1]), Number(sides?.[2])]
  return {
    prompt: asString(prompt),
    n,
    size: sides && !usesAspectRatios ? `${width}x${height}` : undefined,
    aspectRatio: sides && usesAspectRatios ? nearestAspectRatio(width / height) : undefined,
    seed: typeof seed === 'number' ? seed : undefined,
    files: undefined,
    mask: undefined,
    providerOptions: typeof negative_prompt === 'string' ? { [name]: { negative_prompt } } : {},
    abortSignal: signal,
  }
}

/** Returns the nearest aspect ratio that providers accept. */
export function nearestAspectRatio(ratio: number): (typeof aspectRatios)[number] {
  const distance = (text: string): number => {
    const [width = 1, height = 1] = text.split(':').map(Number)
    return Math.abs(Math.log(width / height / ratio))
  }
  return aspectRatios.reduce((best, one) => (distance(one) < distance(best) ? one : best))
}

const toBase64 = (image: string | Uint8Array): string =>
  typeof image === 'string' ? image : Buffer.from(image).toString('base64')

/** Sums the tokens of providers that charge images by them. */
function sumUsage(results: ImageResult[]) {
  const usages = results.flatMap(({ usage }) => usage ?? [])
  if (usages.length === 0) return {}
  const sum = (name: 'inputTokens' | 'outputTokens'): number =>
    usages.reduce((total, usage) => total + (usage[name] ?? 0), 0)
  const [input, output] = [sum('inputTokens'), sum('outputTokens')]
  return {
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  }
}
