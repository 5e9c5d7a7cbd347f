import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { iconBytesMax } from '../kernel/limits.ts'
import { t, type Text } from '../kernel/words/message.ts'
import { fileField, type Form, postForm } from './forms.ts'

/** Returns an uploaded file in the form that operations take in JSON (RFC 2397). */
export const dataUrlOf = async (file: File, type = 'application/octet-stream'): Promise<string> =>
  `data:${type};base64,${(await file.bytes()).toBase64()}`

/** Reads an image as a data URL. Its content decides the type. Throws `bad_request`, `too_big`. */
export async function readImage(submitted: Form): Promise<string> {
  const file = submitted.file('file') ?? rejectRequest(t('Choose an image.'))
  if (file.size <= iconBytesMax) return dataUrlOf(file, 'image/png')
  throw new ApiError('too_big', { bytes: file.size, max: iconBytesMax })
}

const imageTypes = 'image/png,image/jpeg,image/webp'

/** A field for an image that `readImage` takes. */
export const imageField = (label: Text): Html => fileField({ label, accept: imageTypes })

interface TileOptions {
  /** Names the action, such as "Upload cover". */
  label: Text
  /** The image that it replaces. */
  image?: Part
  fields?: Part
  isSquare?: boolean
}

/**
 * A form that is the image itself: a chosen or dropped file replaces it at once. Browsers without
 * scripts send it with a button.
 */
export const imageTile = (
  token: string,
  action: string,
  { label, image = false, fields, isSquare = false }: TileOptions,
): Html => {
  const face = html`${fields}<label class="image-tile${isSquare && ' square'}"
      >${image}<span class="tile-label${image === false && ' empty-tile'}">${label}</span
      ><input type="file" name="file" accept="${imageTypes}" required /></label
    ><button class="button quiet slim">Upload</button>`
  return html`<file-drop data-at-once
    >${postForm(token, action, face, 'image-form', 'multipart/form-data')}</file-drop
  >`
}
