import { mediaErrors, paidOperation } from '../operation.ts'
import * as moderations from './moderations.ts'
import * as schemas from './schemas.ts'

const createModeration = paidOperation({
  id: 'create_moderation',
  route: 'POST /moderations',
  tag: 'Media',
  summary: 'Judge texts and images by the categories of a moderation model.',
  description: 'Charged by input tokens, where the model is not free.',
  input: schemas.moderationRequestSchema,
  output: [schemas.ModerationSchema],
  errors: mediaErrors,
  run: moderations.createModeration,
})

export const moderationOperations = [createModeration]
