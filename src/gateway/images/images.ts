import { promptCharsMax } from '../../kernel/limits.ts'
import { recordOf } from '../../kernel/schema.ts'
import type { AppContext } from '../../server/context.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { readString } from '../fields.ts'
import { runMediaRequest } from '../paid/media.ts'
import { readParams, readStream, toMediaRequest } from './image-request.ts'

/**
 * Generates images (document 2, POST /v1/images/generations), charged per returned image. Throws
 * `bad_request` and the errors of section 7.
 */
export function generateImages(ctx: AppContext, spender: Spender, sent: unknown, call: Call) {
  const { stream, ...body } = recordOf(sent)
  const params = readParams(body)
  readString(body, 'prompt', promptCharsMax)
  const { quality: _, ...withoutQuality } = params.body
  const request = toMediaRequest(ctx, {
    path: '/images/generations',
    params,
    images: 0,
    bodies: { all: params.body, withoutQuality },
    fingerprint: sent,
    isStream: readStream(stream),
  })
  return runMediaRequest(ctx, spender, request, call)
}
