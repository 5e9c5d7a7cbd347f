import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { listedModelsMax } from '../../kernel/limits.ts'
import { requireModel } from '../catalog/catalog.ts'
import { invalidField } from '../fields.ts'
import { pageAfter } from '../list.ts'
import type { Model } from '../models/catalog.ts'
import type { ModelType } from '../models/price.ts'
import type { CohereModel, CohereModelList, ModelListQuery } from './schemas.ts'

const pageSizeDefault = 20

/** Cohere's names of the operations that a type of model serves; the others have none. */
const endpointsByType: Partial<Record<ModelType, string[]>> = {
  chat: ['chat'],
  embedding: ['embed'],
  rerank: ['rerank'],
}

/**
 * Lists the models of Cohere's operations in its pages. The token of a page is the last id before
 * it. Throws `bad_request`.
 */
export function listModels({ catalog }: AppContext, query: ModelListQuery): CohereModelList {
  const { page_size = pageSizeDefault, page_token, endpoint, default_only } = query
  if (default_only === 'true') {
    throw invalidField('default_only', 'No operation has a default model. Remove default_only.')
  }
  const size = requireWhole('page_size', page_size, listedModelsMax)
  const models = catalog
    .list(['chat', 'embedding', 'rerank'])
    .filter(({ type }) => !endpoint || endpointsByType[type]?.includes(endpoint))
  const { page, hasMore } = pageAfter(models, page_token || undefined, size, 'page_token')
  const last = page.at(-1)
  return { models: page.map(present), ...(hasMore && last && { next_page_token: last.id }) }
}

/** Returns a model by its id. Throws `no_model`. */
export const getModel = (ctx: AppContext, id: string): CohereModel => present(requireModel(ctx, id))

const present = ({ id, type, inputs, supportsTools, contextLength }: Model): CohereModel => ({
  name: id,
  is_deprecated: false,
  endpoints: endpointsByType[type] ?? [],
  finetuned: false,
  context_length: contextLength,
  tokenizer_url: null,
  default_endpoints: [],
  features: [...(supportsTools ? ['tools'] : []), ...(inputs.includes('image') ? ['vision'] : [])],
})
