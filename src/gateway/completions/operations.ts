import { chatErrors, ChunksSchema, CompletionSchema } from '../openai-chat/schemas.ts'
import { paidOperation } from '../operation.ts'
import * as completions from './completions.ts'
import * as schemas from './schemas.ts'

const createCompletion = paidOperation({
  id: 'create_completion',
  route: 'POST /completions',
  tag: 'Chat',
  summary: 'Complete a text, or fill a gap in it, whole or as a stream.',
  description: 'A chat model writes the completion. Charged like the same chat completion.',
  input: schemas.completionRequestSchema,
  output: [schemas.TextCompletionSchema, schemas.TextChunksSchema],
  errors: chatErrors,
  run: completions.createCompletion,
})

const createFimCompletion = paidOperation({
  id: 'create_fim_completion',
  route: 'POST /fim/completions',
  tag: 'Chat',
  summary: "Fill the gap before a suffix with Mistral's API, whole or as a stream.",
  description: 'A chat model writes the text. Charged like the same chat completion.',
  input: schemas.fimRequestSchema,
  output: [CompletionSchema, ChunksSchema],
  errors: chatErrors,
  run: completions.createFimCompletion,
})

/** Routes of completions of texts, which editors call. */
export const completionOperations = [createCompletion, createFimCompletion]
