import { fetchedImageBytesMax, upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import { detectFileKind } from '../../store/file-kind.ts'

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
export async function readImageResults(data: unknown[], fetchUrl: FetchUrl) {
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
