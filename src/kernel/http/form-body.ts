import type { Static, TObject } from '@sinclair/typebox'

import { rejectRequest } from '../errors.ts'
import { keylessBodyBytesMax } from '../limits.ts'
import { readBodyBytes } from './body.ts'
import type { IncomingCall } from './operation.ts'
import { createValidator } from './validation.ts'

const mediaType = 'application/x-www-form-urlencoded'
const problem = `Send the fields once each, with content-type: ${mediaType}.`

/** Returns the input of an operation whose body is a form of texts, as OAuth has them. */
export function formInput<Schema extends TObject>(schema: Schema) {
  const validate: (value: unknown) => asserts value is Static<Schema> = createValidator(schema)
  return {
    async read({ source }: IncomingCall): Promise<Static<Schema>> {
      const value = 'request' in source ? await readForm(source.request) : source.value
      validate(value)
      return value
    },
    bodies: {
      [mediaType]: {
        schema: {
          ...schema,
          required: schema.required ?? [],
          additionalProperties: schema.additionalProperties ?? false,
        },
      },
    },
  }
}

/** Reads a form. Throws `bad_request`, also for a field that occurs twice (RFC 6749, 3.2). */
async function readForm(request: Request): Promise<Record<string, string>> {
  const type = request.headers.get('content-type') ?? ''
  if (type.split(';')[0]?.trim().toLowerCase() !== mediaType) rejectRequest(problem)
  const bytes = await readBodyBytes(request, keylessBodyBytesMax)
  const fields = [...new URLSearchParams(new TextDecoder().decode(bytes))]
  const values = Object.fromEntries(fields)
  return Object.keys(values).length === fields.length ? values : rejectRequest(problem)
}
