import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { sha256 } from '../../kernel/ids.ts'
import {
  fileBytesMax,
  imagesPerRequestMax,
  modelIdCharsMax,
  promptCharsMax,
} from '../../kernel/limits.ts'
import {
  anyObject,
  lenientObject,
  mediaSchema,
  namedObject,
  RangeNotSatisfiableSchema,
  recordOf,
  toText,
} from '../../kernel/schema.ts'
import { detectPrivateFileKind } from '../../store/file-kind.ts'
import { anyone, type Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { invalidField, readString } from '../fields.ts'
import { readMultipart, textFields } from '../files/upload.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import type { Model } from '../models/catalog.ts'
import { mediaErrors, operationsOf, paidOperation, paidUpload } from '../operation.ts'
import { runMediaRequest } from '../paid/media.ts'
import { modelSchema, sizeSchema } from '../request-schemas.ts'
import { type ImageParams, readParams, readStream, toMediaRequest } from './image-request.ts'

/** Fields of every request for images. */
const common: OpenAPIV3.SchemaObject['properties'] = {
  model: modelSchema('The id of an image model.'),
  size: sizeSchema,
  n: { type: 'integer', minimum: 1, maximum: imagesPerRequestMax, default: 1 },
  response_format: { type: 'string', enum: ['url', 'b64_json'], default: 'url' },
  stream: { type: 'boolean', description: 'Sends an event for each image.' },
}
const prompt: OpenAPIV3.SchemaObject = { type: 'string', minLength: 1, maxLength: promptCharsMax }
const image: OpenAPIV3.SchemaObject = { type: 'string', format: 'binary' }

/** The body of an image request, which image-request.ts parses. */
export const imagesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    ...common,
    prompt,
    negative_prompt: { type: 'string', maxLength: promptCharsMax },
  },
}

/** The form of an edit, which edits.ts parses. */
export const editRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'image', 'prompt'],
  properties: {
    ...common,
    prompt,
    image: { ...image, description: 'PNG, JPEG, WebP or GIF. Up to 16, as image[].' },
    mask: { ...image, description: 'Its transparent areas are edited.' },
  },
}

/** The form of a variation, which edits.ts parses. */
export const variationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'image'],
  properties: { ...common, image },
}

/** Images with their cost (document 2, section 2). */
export const ImagesSchema = namedObject('Images', {
  created: Type.Integer({ description: 'Seconds since 1970.' }),
  data: Type.Array(
    Type.Object({
      url: Type.Optional(Type.String({ description: 'Valid for 24 hours without a key.' })),
      b64_json: Type.Optional(Type.String()),
      revised_prompt: Type.Optional(
        Type.String({ description: 'The prompt as the model changed it.' }),
      ),
    }),
  ),
  background: Type.Optional(Type.String()),
  output_format: Type.Optional(Type.String()),
  quality: Type.Optional(Type.String()),
  size: Type.Optional(Type.String()),
  cost: Type.Number({ description: 'USD' }),
})

export const SignedUrlQuerySchema = lenientObject({
  expires: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
})

const ImageSchema = mediaSchema('image/*')
const imagesOrEvents = Type.Union([
  ImagesSchema,
  mediaSchema('text/event-stream', { description: 'With `stream`: an event for each image.' }),
])

const createImages = paidOperation({
  id: 'create_images',
  route: 'POST /images/generations',
  tag: 'Media',
  summary: 'Generate images from a prompt.',
  description: 'Charged per returned image; cost is in USD. URLs are valid for 24 hours.',
  input: imagesRequestSchema,
  output: [imagesOrEvents],
  errors: mediaErrors,
  run: generateImages,
})

const editImages = paidUpload({
  id: 'edit_images',
  route: 'POST /images/edits',
  tag: 'Media',
  summary: 'Edit images by a prompt.',
  description: 'Charged like generated images. The images have at most 32 MB together.',
  input: { 'multipart/form-data': editRequestSchema },
  output: [imagesOrEvents],
  errors: mediaErrors,
  read: (request) => readForm(request, '/images/edits'),
  run: (ctx, spender, form, call) => changeImages(ctx, spender, '/images/edits', form, call),
})

const varyImage = paidUpload({
  id: 'vary_image',
  route: 'POST /images/variations',
  tag: 'Media',
  summary: 'Create variations of an image.',
  description: 'Charged like generated images.',
  input: { 'multipart/form-data': variationRequestSchema },
  output: [imagesOrEvents],
  errors: mediaErrors,
  read: (request) => readForm(request, '/images/variations'),
  run: (ctx, spender, form, call) => changeImages(ctx, spender, '/images/variations', form, call),
})

const getImage = operationsOf('Media')({
  id: 'get_image',
  route: 'GET /images/:id',
  summary: 'Get an image by its signed URL.',
  access: anyone,
  input: { query: SignedUrlQuerySchema },
  output: { 200: ImageSchema, 206: ImageSchema, 416: RangeNotSatisfiableSchema },
  errors: ['not_found'],
  async run(ctx, { params, query }) {
    const image = await mediaFiles.findSigned(ctx, params.id, query)
    if (image) return mediaFiles.present(image)
    throw new ApiError('not_found', {
      what: 'image',
      see: 'Its URL is valid for 24 hours. Create the image again.',
    })
  },
})

/** Routes of images (document 2, POST /v1/images/generations) and of their signed URLs. */
export const imageOperations = [createImages, editImages, varyImage, getImage]

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
