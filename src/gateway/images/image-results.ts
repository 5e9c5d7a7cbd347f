import { isRecord } from '../../core/schema.ts'
import { upstreamAnswerBytesMax } from '../../limits.ts'
import { detectFileKind } from '../../storage/file-kind.ts'

/** A picture as an upstream answers it: its bytes, or where it stands. */
export type ImageResult = ({ bytes: Uint8Array; type: string } | { url: string }) & {
  /** What its model made of the prompt, where it tells. */
  revisedPrompt?: string
}

/** The pictures of an answer, at most `max`; what is none is left out. */
export async function readImageResults(data: unknown[], max: number): Promise<ImageResult[]> {
  const pictures: ImageResult[] = []
  for (const item of data.slice(0, max)) {
    const picture = isRecord(item) ? await readPicture(item) : undefined
    if (picture) pictures.push({ ...picture, ...revisedIn(item) })
  }
  return pictures
}

const revisedIn = (item: unknown): Pick<ImageResult, 'revised'> =>
  isRecord(item) && typeof item.revised_prompt === 'string'
    ? { revisedPrompt: item.revised_prompt }
    : {}

const dataUrl = /^data:image\/[a-z+.-]+;base64,/i

async function readPicture({
  b64_json,
  url,
}: Record<string, unknown>): Promise<ImageResult | undefined> {
  if (typeof b64_json === 'string') return readBytes(b64_json)
  if (typeof url !== 'string') return undefined
  const [start] = dataUrl.exec(url) ?? []
  if (start !== undefined) return readBytes(url.slice(start.length))
  return /^https?:\/\//.test(url) && URL.canParse(url) ? { url } : undefined
}

/** Told by the content: what is served from here is a picture and nothing else. */
async function readBytes(base64: string): Promise<ImageResult | undefined> {
  const bytes = Buffer.from(base64, 'base64')
  const told = await detectFileKind(bytes, upstreamAnswerBytesMax)
  return 'kind' in told && told.kind === 'picture' ? { bytes, type: told.type } : undefined
}
