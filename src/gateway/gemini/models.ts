import { ApiError } from '../../kernel/errors.ts'
import type { AppContext } from '../../server/context.ts'
import type { Model } from '../models/catalog.ts'
import type { ModelType } from '../models/price.ts'
import type { GeminiModel } from './schemas.ts'

/** The methods of each type of model; the other types have none in this API. */
const methods: Partial<Record<ModelType, string[]>> = {
  chat: ['generateContent', 'countTokens'],
  embedding: ['embedContent', 'countTokens'],
}

/** Lists the chat and embedding models in the format of Google's Gemini API. */
export const listModels = ({ catalog }: AppContext): { models: GeminiModel[] } => ({
  models: catalog.list(['chat', 'embedding']).map(present),
})

/** Returns a model by its id. Throws `no_model`. */
export function getModel({ catalog }: AppContext, id: string): GeminiModel {
  const model = catalog.find(id)?.model
  if (!model) throw new ApiError('no_model', { model: id })
  return present(model)
}

const present = ({ id, name, type, contextLength, maxOutput }: Model): GeminiModel => ({
  name: `models/${id}`,
  version: '1',
  displayName: name,
  inputTokenLimit: contextLength,
  outputTokenLimit: maxOutput,
  supportedGenerationMethods: methods[type] ?? [],
})
