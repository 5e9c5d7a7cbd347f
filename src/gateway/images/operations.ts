import { Type } from '@sinclair/typebox'

import { ApiError } from '../../kernel/errors.ts'
import { mediaSchema, RangeNotSatisfiableSchema } from '../../kernel/schema.ts'
import { anyone } from '../authentication.ts'
import * as mediaFiles from '../media-files/media-files.ts'
import { mediaErrors, operationsOf, paidOperation, paidUpload } from '../operation.ts'
import { changeImages, generateImages, readForm } from './images.ts'
import * as schemas from './schemas.ts'

const ImageSchema = mediaSchema('image/*')
const imagesOrEvents = Type.Union([
  schemas.ImagesSchema,
  mediaSchema('text/event-stream', { description: 'With `stream`: an event for each image.' }),
])

const createImages = paidOperation({
  id: 'create_images',
  route: 'POST /images/generations',
  tag: 'Media',
  summary: 'Generate images from a prompt.',
  description: 'Charged per returned image; cost is in USD. URLs are valid for 24 hours.',
  input: schemas.imagesRequestSchema,
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
  input: { 'multipart/form-data': schemas.editRequestSchema },
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
  input: { 'multipart/form-data': schemas.variationRequestSchema },
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
  input: { query: schemas.SignedUrlQuerySchema },
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
