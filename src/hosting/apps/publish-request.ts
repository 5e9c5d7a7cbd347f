import { ApiError } from '../../errors.ts'
import { idempotencyKeyOf } from '../../idempotency/idempotency.ts'
import { priceErrors, publishErrors, writeErrors } from '../operation.ts'

export const publishRequestErrors = [
  ...writeErrors,
  ...publishErrors,
  ...priceErrors,
  'no_builder',
  'no_studio',
] as const

/** Returns the request as `page` or as `build`, with its idempotency key. Throws `bad_request`. */
export function parsePublishRequest<Body extends { html?: string; prompt?: string; ref?: string }>(
  body: Body,
  request: Request,
) {
  const ref = idempotencyKeyOf(request, body.ref)
  const { html, prompt } = body
  if ((html === undefined) === (prompt === undefined)) {
    throw new ApiError('bad_request', { problem: 'Send exactly one of "html" and "prompt".' })
  }
  const input = { ...body, ...(ref && { ref }) }
  return html === undefined ? { build: input } : { page: { ...input, html } }
}
