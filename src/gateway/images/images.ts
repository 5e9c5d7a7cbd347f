import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import { fileBytesMax, modelIdCharsMax, promptCharsMax } from '../../kernel/limits.ts'
import { recordOf, toText } from '../../kernel/schema.ts'
import { detectPrivateFileKind } from '../../store/file-kind.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { invalidField, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'
import type { Model } from '../models/catalog.ts'
import { runMediaRequest } from '../paid/media.ts'
import { type ImageParams, readParams, readStream, toMediaRequest } from './image-request.ts'

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

/** The operations on images that a client sends. */
export type ImageOperation = '/images/edits' | '/images/variations'

const imagesMax: Record<ImageOperation, number> = { '/images/edits': 16, '/images/variations': 1 }

/**
 * Edits or varies images that the client sends (OpenAI's POST /v1/images/edits and
 * /v1/images/variations), charged like generated images. Throws `bad_request`, `too_large` and the
 * errors of section 7 of document 2.
 */
export async function changeImages(
  ctx: AppContext,
  spender: Spender,
  operation: ImageOperation,
  { files, params, isStream }: ImageForm,
  call: Call,
): Promise<CallOutcome> {
  const form = new FormData()
  for (const [name, value] of Object.entries(params.body)) form.append(name, toText(value))
  for (const [name, file] of files) form.append(name, file, file.name)
  const withoutQuality = new FormData()
  form.forEach((value, name) => {
    if (name === 'quality') return
    if (typeof value === 'string') withoutQuality.append(name, value)
    else withoutQuality.append(name, value, value.name)
  })
  const hashes = await Promise.all(files.map(async ([, file]) => sha256(await file.bytes())))
  const media = toMediaRequest(ctx, {
    path: operation,
    params,
    images: files.length,
    bodies: { all: form, withoutQuality },
    isStream,
    fingerprint: { fields: params.body, model: params.modelIds, files: hashes, isStream },
  })
  return runMediaRequest(ctx, spender, { ...media, validate: validateWith(media.validate) }, call)
}

/** Adds the check that a model takes images. */
const validateWith =
  (validate: ((model: Model) => void) | undefined) =>
  (model: Model): void => {
    if (!model.inputs.includes('image')) {
      throw invalidField(
        'model',
        `${model.id} does not accept images. Use POST /v1/images/generations.`,
      )
    }
    validate?.(model)
  }

/** The form of an operation on images that a client sends. */
interface ImageForm {
  files: [name: string, file: File][]
  params: ImageParams
  isStream: boolean
}

/** Reads the form of an operation. Throws `bad_request`, and `too_large` without buffering more. */
export async function readForm(request: Request, operation: ImageOperation): Promise<ImageForm> {
  const form = await readMultipart(request)
  if (!form) throw invalidField('image', 'Send multipart/form-data with the field "image".')
  const fields = Object.fromEntries(textFields(form, 'image'))
  const images = [...form.getAll('image'), ...form.getAll('image[]')].filter(
    (one) => one instanceof File,
  )
  const masks =
    operation === '/images/edits' ? form.getAll('mask').filter((one) => one instanceof File) : []
  const max = imagesMax[operation]
  if (images.length === 0 || images.length > max || masks.length > 1) {
    throw invalidField(
      'image',
      `Send 1 to ${max} files in the field "image", and at most one "mask".`,
    )
  }
  for (const file of [...images, ...masks]) await checkImage(file)
  if (operation === '/images/edits') readString(fields, 'prompt', promptCharsMax)
  else if (fields.prompt) throw invalidField('prompt', 'Variations have no prompt. Remove it.')
  const { model, stream, ...params } = fields
  readString({ model }, 'model', modelIdCharsMax)
  // Providers expect a list under name[].
  const name = images.length > 1 ? 'image[]' : 'image'
  return {
    files: [
      ...images.map((file): [string, File] => [name, file]),
      ...masks.map((file): [string, File] => ['mask', file]),
    ],
    isStream: readStream(stream),
    params: readParams({
      ...params,
      model,
      ...(params.n !== undefined && { n: Number(params.n) }),
    }),
  }
}

/** Throws `bad_request` for a file that is no image, and `too_large`. */
async function checkImage(file: File): Promise<void> {
  if (file.size > fileBytesMax) {
    throw new ApiError('too_large', { bytes: file.size, max: fileBytesMax })
  }
  const found = await detectPrivateFileKind(await file.bytes())
  if ('kind' in found && found.kind === 'picture') return
  throw invalidField('image', 'The image must be a valid PNG, JPEG, WebP or GIF.')
}
