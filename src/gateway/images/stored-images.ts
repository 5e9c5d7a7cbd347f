import { mediaLinkMs } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import { fetchResult } from '../media-files/fetch-result.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Usage } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { interruptionOf, unfetchable, unreadable } from '../paid/upstream-failure.ts'
import { type ImageResult, readImageResults } from './image-results.ts'

/** Reads the images of a response, also from URLs. Without an image it is a failure. */
export async function readResults(
  ctx: AppContext,
  data: unknown[],
  { offer: { upstream } }: Candidate,
  deadlines: CallDeadlines,
) {
  const results = await readImageResults(data, async (url, bytesMax) => {
    const bytes = await fetchResult(ctx, { upstream, url, bytesMax }, deadlines)
    return bytes instanceof Uint8Array ? bytes : undefined
  })
  if (results.images.length > 0) return results
  if (results.unfetched === 0) return unreadable
  return deadlines.cause === 'client' ? interruptionOf(deadlines) : unfetchable
}

/** Returns the properties of the images that an upstream sends in OpenAI's format. */
export const imageDetails = (response: Json): Json =>
  Object.fromEntries(
    ['background', 'output_format', 'quality', 'size'].flatMap((name) =>
      typeof response[name] === 'string' ? [[name, response[name]]] : [],
    ),
  )

/** Reduces the output tokens by the share of the images that could not be fetched. */
export function withoutUnfetched(usage: Usage, images: number, unfetched: number): Usage {
  if (unfetched === 0) return usage
  const completion = Math.ceil((usage.completion * images) / (images + unfetched))
  return { ...usage, completion, reasoning: Math.min(usage.reasoning, completion), estimated: true }
}

/** Stores images behind signed URLs, unless the client requested bytes. */
export async function storeImages(ctx: AppContext, images: ImageResult[], asBytes: boolean) {
  const rows: mediaFiles.MediaFile[] = []
  const data: Record<string, string>[] = []
  for (const image of images) {
    const prompt = image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt }
    if (asBytes) {
      data.push({ b64_json: Buffer.from(image.bytes).toString('base64'), ...prompt })
    } else {
      const row = await mediaFiles.store(ctx, { ...image, forMs: mediaLinkMs })
      rows.push(row)
      data.push({ url: mediaFiles.signedUrlOf(ctx, row), ...prompt })
    }
  }
  return { rows, data }
}
