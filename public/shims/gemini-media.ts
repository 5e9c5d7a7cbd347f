/**
 * Pictures and speech of Google's API, which pages of Gemini canvas make without a key: Imagen by
 * `:predict`, and `generateContent` with `responseModalities`. Sources:
 * https://ai.google.dev/gemini-api/docs/imagen and /speech-generation (November 2026).
 */
import type { AiFetch } from '../bridge/ai-fetch.ts'
import { imageRequest } from '../bridge/image-request.ts'
import { imageTypeOf } from '../bridge/image-type.ts'
import { readEvents } from '../bridge/server-events.ts'
import { field } from '../frame/messages.ts'

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : value ? [value] : [])

const partsOf = (body: unknown): unknown[] =>
  list(field(body, 'contents')).flatMap((content) => list(field(content, 'parts')))

/** Returns the texts of all parts of a request. */
const promptOf = (body: unknown): string =>
  partsOf(body)
    .flatMap((part) => String(field(part, 'text') ?? '') || [])
    .join('\n')

/** Returns the pictures of all parts of a request, which its prompt changes. */
const imagesOf = (body: unknown): Blob[] =>
  partsOf(body).flatMap((part) => {
    const given = field(part, 'inlineData') ?? field(part, 'inline_data')
    const type = String(field(given, 'mimeType') ?? field(given, 'mime_type'))
    if (!type.startsWith('image/')) return []
    const bytes = Uint8Array.from(atob(String(field(given, 'data'))), (one) => one.charCodeAt(0))
    return [new Blob([bytes], { type })]
  })

const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

interface DrawnImage {
  mimeType: string
  data: string
}

interface MediaCall {
  fetchModel: AiFetch
  body: unknown
  signal: AbortSignal
}

/** Draws pictures, also from given ones. Returns the response of an error as it is. */
async function draw(
  { fetchModel, signal }: MediaCall,
  prompt: string,
  { count = 1, images = [] }: { count?: number; images?: Blob[] },
): Promise<DrawnImage[] | Response> {
  const response = await fetchModel(...imageRequest({ prompt, n: count }, images), signal)
  if (!response.ok) return response
  const { data } = await response.json()
  return list(data).map((one) => {
    const base64 = String(field(one, 'b64_json'))
    return { mimeType: imageTypeOf(base64), data: base64 }
  })
}

const candidateOf = (parts: object[]): Response =>
  Response.json({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  })

/** Imagen: `instances` with prompts, and `parameters` with a count. */
async function predict(call: MediaCall): Promise<Response> {
  const [instance] = list(field(call.body, 'instances'))
  const count = Number(field(field(call.body, 'parameters'), 'sampleCount') ?? 1)
  const drawn = await draw(call, String(field(instance, 'prompt') ?? ''), { count })
  if (drawn instanceof Response) return drawn
  return Response.json({
    predictions: drawn.map(({ mimeType, data }) => ({ mimeType, bytesBase64Encoded: data })),
  })
}

const sampleRate = 24_000

/** Speech as samples of 16 bits, as Google returns it. */
async function speak({ fetchModel, body, signal }: MediaCall): Promise<Response> {
  const request = { input: promptOf(body), voice: 'alloy', response_format: 'pcm' }
  const response = await fetchModel('v1/audio/speech', { body: JSON.stringify(request) }, signal)
  if (!response.ok) return response
  const data = base64Of(new Uint8Array(await response.arrayBuffer()))
  const mimeType = `audio/L16;codec=pcm;rate=${sampleRate}`
  return candidateOf([{ inlineData: { mimeType, data } }])
}

/** Returns a stream as Google sends it without `alt=sse`: an array, whose items arrive in turn. */
export function asArray(response: Response): Response {
  if (!response.ok) return response
  const events = readEvents(response)[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let before = '['
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const { done, value } = await events.next()
      const text = done ? `${before === '[' ? before : ''}]` : before + JSON.stringify(value)
      stream.enqueue(encoder.encode(text))
      before = ',\r\n'
      if (done) stream.close()
    },
    cancel: async () => void (await events.return?.(undefined)),
  })
  return new Response(body, { headers: { 'content-type': 'application/json; charset=UTF-8' } })
}

/** Answers a call for pictures or speech; undefined for one for a text. */
export async function callMedia(path: string, call: MediaCall): Promise<Response | undefined> {
  if (path.endsWith(':predict')) return predict(call)
  const config = field(call.body, 'generationConfig') ?? field(call.body, 'generation_config')
  const kinds = list(field(config, 'responseModalities')).map((kind) => String(kind).toUpperCase())
  if (kinds.includes('AUDIO')) return speak(call)
  if (!kinds.includes('IMAGE')) return undefined
  const drawn = await draw(call, promptOf(call.body), { images: imagesOf(call.body) })
  return drawn instanceof Response
    ? drawn
    : candidateOf(drawn.map((inlineData) => ({ inlineData })))
}
