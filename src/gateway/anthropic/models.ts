import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { listedModelsMax } from '../../kernel/limits.ts'
import { findModels, requireModel } from '../catalog/catalog.ts'
import { pageBetween } from '../list.ts'
import type { Model } from '../models/catalog.ts'
import type { AnthropicModel, AnthropicModelList, ModelListQuery } from './schemas.ts'

const pageSizeDefault = 20
/** Anthropic's value for a model whose release date is unknown. */
const unknownDate = '1970-01-01T00:00:00Z'

/** Lists the models in the pages of Anthropic's API. Throws `bad_request`. */
export function listModels(ctx: AppContext, query: ModelListQuery): AnthropicModelList {
  const { limit = pageSizeDefault, after_id: after, before_id: before, type } = query
  const size = requireWhole('limit', limit, listedModelsMax)
  const { page, ...ends } = pageBetween(findModels(ctx, type), { after, before }, size)
  return { data: page.map(present), ...ends }
}

/** Returns a model by its id. Throws `no_model`. */
export const getModel = (ctx: AppContext, id: string): AnthropicModel =>
  present(requireModel(ctx, id))

const present = ({ id, name, contextLength, maxOutput }: Model): AnthropicModel => ({
  type: 'model',
  id,
  display_name: name,
  created_at: unknownDate,
  max_input_tokens: contextLength || null,
  max_tokens: maxOutput || null,
  capabilities: null,
  lifecycle: 'active',
  line: null,
  deprecated_at: null,
  retires_at: null,
})
