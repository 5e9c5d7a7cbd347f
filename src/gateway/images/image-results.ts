import { isRecord, type Json } from '../../core/schema.ts'
import { upstreamResponseBytesMax } from '../../limits.ts'
import { detectFileKind } from '../../storage/file-kind.ts'

/** An image of an upstream's response: its bytes or its URL. */
export type ImageResult = ({ bytes: Uint8Array; type: string } | { url: string }) & {
  /** The prompt as the model changed it. */
  revisedPrompt?: string
}

/** Reads at most `max` images of a response. It skips invalid ones. */
export async function readImageResults(data: unknown[], max: number): Promise<ImageResult[]> {
  const images: ImageResult[] = []
  for (const item of data.slice(0, max).filter(isRecord)) {
    const image = await readImage(item)
    const { revised_prompt: revisedPrompt } = item
    if (image)
      images.push({ ...image, ...(typeof revisedPrompt === 'string' && { revisedPrompt }) })
  }
  return images
}

const dataUrl = /^data:image\/[a-z+.-]+;base64,/i

async function readImage({ b64_json, url }: Json): Promise<ImageResult | undefined> {
  if (typeof b64_json === 'string') return readBase64(b64_json)
  if (typeof url !== 'string') return undefined
  const [prefix] = dataUrl.exec(url) ?? []
  if (prefix !== undefined) return readBase64(url.slice(prefix.length))
  return /^https?:\/\//.test(url) && URL.canParse(url) ? { url } : undefined
}

/** Reads an image with its detected type, so that this server serves nothing but images. */
async function readBase64(base64: string): Promise<ImageResult | undefined> {
  const bytes = Buffer.from(base64, 'base64')
  const file = await detectFileKind(bytes, upstreamResponseBytesMax)
  return 'kind' in file && file.kind === 'picture' ? { bytes, type: file.type } : undefined
}
