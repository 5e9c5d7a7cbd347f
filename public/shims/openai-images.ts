import type { AiFetch, ModelBody } from '../bridge/ai-fetch.ts'
import { imageTypeOf } from '../bridge/image-type.ts'
import { field } from '../frame/messages.ts'

/**
 * Images of OpenAI's API, whose URLs a page cannot load here: each has its bytes, and a data: URL
 * of them for pages that read `url`.
 */
export async function drawImages(
  fetchModel: AiFetch,
  body: ModelBody,
  signal: AbortSignal,
): Promise<Response> {
  const path = 'v1/images/generations'
  if (!('body' in body)) return fetchModel(path, body, signal)
  let request: object
  try {
    request = JSON.parse(body.body)
  } catch {
    // The server says what is wrong.
    return fetchModel(path, body, signal)
  }
  const sent = JSON.stringify({ ...request, response_format: 'b64_json' })
  const response = await fetchModel(path, { body: sent }, signal)
  if (!response.ok) return response
  const drawn: object = await response.json()
  const images = [field(drawn, 'data')].flat().map((image) => {
    const base64 = String(field(image, 'b64_json'))
    return { ...Object(image), url: `data:${imageTypeOf(base64)};base64,${base64}` }
  })
  return Response.json({ ...drawn, data: images })
}
