import { ApiError, rejectRequest } from '../kernel/errors.ts'
import type { Html } from '../kernel/html.ts'
import { iconBytesMax } from '../kernel/limits.ts'
import { t, type Text } from '../kernel/words/message.ts'
import { fileField, type Form } from './forms.ts'

/** Returns an uploaded file in the form that operations take in JSON (RFC 2397). */
export const dataUrlOf = async (file: File, type = 'application/octet-stream'): Promise<string> =>
  `data:${type};base64,${(await file.bytes()).toBase64()}`

/** Reads an image as a data URL. Its content decides the type. Throws `bad_request`, `too_big`. */
export async function readImage(submitted: Form): Promise<string> {
  const file = submitted.file('file') ?? rejectRequest(t('Choose an image.'))
  if (file.size <= iconBytesMax) return dataUrlOf(file, 'image/png')
  throw new ApiError('too_big', { bytes: file.size, max: iconBytesMax })
}

/** A field for an image that `readImage` takes. */
export const imageField = (label: Text): Html =>
  fileField({ label, accept: 'image/png,image/jpeg,image/webp' })
