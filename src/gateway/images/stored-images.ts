import type { AppContext } from '../../kernel/context.ts'
import { fetchedImageBytesMax, mediaLinkMs, upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { isRecord, type Json } from '../../kernel/schema.ts'
import { detectFileKind } from '../../store/file-kind.ts'
import { fetchResult } from '../media-files/fetch-result.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Usage } from '../models/usage.ts'
import type { Candidate } from '../paid/candidates.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { interruptionOf, unfetchable, unreadable } from '../paid/upstream-failure.ts'

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

/** An image of an upstream's response. */
export interface ImageResult {
  bytes: Uint8Array
  type: string
  /** The prompt as the model changed it. */
  revisedPrompt?: string
}

/** Fetches the bytes of a URL, at most `bytesMax`; undefined when they cannot be fetched. */
type FetchUrl = (url: string, bytesMax: number) => Promise<Uint8Array | undefined>

/**
 * Reads the images of a response, and fetches those that are URLs. It skips invalid ones;
 * `unfetched` counts the URLs without an image.
 */
async function readImageResults(data: unknown[], fetchUrl: FetchUrl) {
  const images: ImageResult[] = []
  let unfetched = 0
  let bytesLeft = fetchedImageBytesMax
  for (const { b64_json, url, revised_prompt } of data.filter(isRecord)) {
    const base64 = typeof b64_json === 'string' ? b64_json : base64Of(url)
    const isFetched = base64 === undefined && typeof url === 'string'
    const bytes = isFetched ? await fetchUrl(url, bytesLeft) : Buffer.from(base64 ?? '', 'base64')
    const image = bytes && (await detectImage(bytes))
    if (isFetched) bytesLeft -= bytes?.byteLength ?? 0
    if (isFetched && !image) unfetched += 1
    const prompt = typeof revised_prompt === 'string' && { revisedPrompt: revised_prompt }
    if (image) images.push({ ...image, ...prompt })
  }
  return { images, unfetched }
}

const dataUrl = /^data:image\/[a-z+.-]+;base64,/i

/** Returns the base64 of a data: URL; undefined for any other value. */
function base64Of(url: unknown): string | undefined {
  const [prefix] = (typeof url === 'string' && dataUrl.exec(url)) || []
  return prefix === undefined ? undefined : String(url).slice(prefix.length)
}

/** Returns an image with its detected type, so that this server serves nothing but images. */
async function detectImage(bytes: Uint8Array): Promise<ImageResult | undefined> {
  const file = await detectFileKind(bytes, upstreamResponseBytesMax)
  return 'kind' in file && file.kind === 'picture' ? { bytes, type: file.type } : undefined
}
