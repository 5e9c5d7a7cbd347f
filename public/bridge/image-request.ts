import type { ModelBody } from './ai-fetch.ts'

interface ImageFields {
  prompt: string
  model?: string | undefined
  size?: string | undefined
  n?: number
}

/** Returns the call that draws images, or changes those that a page gives: a path and its body. */
export function imageRequest(
  given: ImageFields,
  images: readonly Blob[],
): [path: string, body: ModelBody] {
  const request = { n: 1, ...given, response_format: 'b64_json' }
  if (images.length === 0) return ['v1/images/generations', { body: JSON.stringify(request) }]
  const form: [name: string, value: string | Blob][] = []
  for (const [name, value] of Object.entries(request)) {
    if (value !== undefined) form.push([name, String(value)])
  }
  for (const image of images) form.push(['image[]', image])
  return ['v1/images/edits', { form }]
}
