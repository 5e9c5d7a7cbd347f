import type { AppContext } from '../../kernel/context.ts'
import { listParameters, requireModel } from '../catalog/catalog.ts'
import type { Model, Offer } from '../models/catalog.ts'
import { type ModelType, presentPrice, type Price } from '../models/price.ts'
import {
  type EndpointsResponse,
  type ModelResponse,
  type ModelsQuery,
  type ModelsResponse,
  type PricingResponse,
  type ProvidersResponse,
  unrecorded,
} from './schemas.ts'

/** Output modalities of OpenRouter by type of model; other types have those of the catalog. */
const outputs: Partial<Record<ModelType, string[]>> = { embedding: ['embeddings'] }

/** Lists the models in the format of OpenRouter (GET /models): all, or a page of them. */
export function listModels(
  { catalog }: AppContext,
  { offset = 0, limit }: ModelsQuery,
): ModelsResponse {
  const models = catalog.list()
  const end = limit === undefined ? models.length : offset + limit
  const data = models.slice(offset, end).map(present)
  return { data, total_count: models.length, links: { next: null } }
}

export const countModels = ({ catalog }: AppContext) => ({ data: { count: catalog.list().length } })

/** Returns a model (OpenRouter, GET /model/{id}). Throws `no_model`. */
export const getModel = (ctx: AppContext, id: string): { data: ModelResponse } => ({
  data: present(requireModel(ctx, id)),
})

/** Returns a model with its upstreams (GET /models/{id}/endpoints). Throws `no_model`. */
export function getEndpoints(ctx: AppContext, id: string): EndpointsResponse {
  const model = requireModel(ctx, id)
  const { name, created, architecture } = present(model)
  const endpoints = model.offers.map((offer) => presentOffer(ctx, model, offer))
  const described = { ...architecture, instruct_type: null, tokenizer: 'Other' }
  return {
    data: { id: model.id, name, created, description: '', architecture: described, endpoints },
  }
}

/** Lists the upstreams of this gateway (OpenRouter, GET /providers). */
export const listProviders = ({ upstreams }: AppContext): ProvidersResponse => ({
  data: upstreams.names.map((name) => ({ name, slug: name, ...unrecorded.provider.values })),
})

function present(model: Model): ModelResponse {
  const { id, name, contextLength, maxOutput, type } = model
  const output_modalities = outputs[type] ?? model.outputs
  return {
    id,
    canonical_slug: id,
    name,
    created: 0,
    context_length: contextLength || null,
    architecture: {
      input_modalities: model.inputs,
      output_modalities,
      modality: `${model.inputs.join('+')}->${output_modalities.join('+')}`,
    },
    pricing: presentPricing(model.price),
    top_provider: {
      context_length: contextLength || null,
      max_completion_tokens: maxOutput || null,
      is_moderated: false,
    },
    supported_parameters: listParameters(model),
    links: { details: `/api/v1/models/${id}/endpoints` },
    ...unrecorded.model.values,
  }
}

/** Returns a price in USD per unit as text. OpenRouter requires one for prompts and completions. */
function presentPricing(price: Price | undefined): PricingResponse {
  const texts = price ? presentPrice(price) : {}
  const optional = {
    audio: texts.audio,
    image_output: texts.per_image,
    input_cache_read: texts.cache_read,
    input_cache_write: texts.cache_write,
    internal_reasoning: texts.reasoning,
    web_search: texts.per_search,
  }
  const known = Object.entries(optional).filter(([, text]) => text !== undefined)
  return {
    prompt: texts.prompt ?? '0',
    completion: texts.completion ?? '0',
    ...Object.fromEntries(known),
  }
}

function presentOffer({ upstreams }: AppContext, model: Model, { upstream, price }: Offer) {
  const isUp = upstreams.find(upstream)?.health.state !== 'open'
  return {
    name: `${upstream} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: upstream,
    tag: upstream,
    context_length: model.contextLength,
    max_completion_tokens: model.maxOutput || null,
    max_prompt_tokens: model.contextLength || null,
    pricing: presentPricing(price ?? model.price),
    status: isUp ? 0 : -1,
    supported_parameters: listParameters(model),
    supports_implicit_caching: false,
    supports_tool_choice: {
      auto: model.supportsTools,
      none: model.supportsTools,
      required: model.supportsTools,
      function: model.supportsTools,
    },
    ...unrecorded.endpoint.values,
  }
}
