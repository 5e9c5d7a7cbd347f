import type { AiFetch, ModelBody } from '../bridge/ai-fetch.ts'
import { imageTypeOf } from '../bridge/image-type.ts'
import { field } from '../frame/messages.ts'

/**
 * Images of OpenAI's API, whose URLs a page cannot load here: each has its bytes, and a data: URL
 * of them for pages that read `url`.
 */
export async function drawImages(
  fetchModel: AiFetch,
  path: string,
  body: ModelBody,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetchModel(path, asBytes(body), signal)
  if (!response.ok) return response
  const drawn: object = await response.json()
  const images = [field(drawn, 'data')].flat().map((image) => {
    const base64 = String(field(image, 'b64_json'))
    return { ...Object(image), url: `data:${imageTypeOf(base64)};base64,${base64}` }
  })
  return Response.json({ ...drawn, data: images })
}

const format = 'response_format'

/** Asks for the bytes of the images. */
function asBytes(body: ModelBody): ModelBody {
  if ('form' in body) {
    return { form: [...body.form.filter(([name]) => name !== format), [format, 'b64_json']] }
  }
  try {
    return { body: JSON.stringify({ ...JSON.parse(body.body), [format]: 'b64_json' }) }
  } catch {
    // The server says what is wrong.
    return body
  }
}
