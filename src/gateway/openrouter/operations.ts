import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import { sumSpendingSince } from '../../money/ledger/holds.ts'
import { balanceOf } from '../../money/ledger/ledger.ts'
import { anyone, key, type KeySpender } from '../authentication.ts'
import { listParameters, requireModel } from '../catalog/catalog.ts'
import { modelOperation } from '../catalog/operations.ts'
import { embeddingOperations } from '../embeddings/operations.ts'
import type { Model, Offer } from '../models/catalog.ts'
import { listUses, type Use } from '../models/history.ts'
import { type ModelType, presentPrice, type Price } from '../models/price.ts'
import { totalCharged } from '../models/spending.ts'
import { completeChat } from '../openai-chat/operations.ts'
import * as chat from '../openai-chat/schemas.ts'
import { operationsOf, paidOperation } from '../operation.ts'
import { responseOperations } from '../responses/operations.ts'
import { OpenRouterErrorSchema } from './client-api.ts'
import * as schemas from './schemas.ts'
import {
  type CreditsResponse,
  type EndpointsResponse,
  type GenerationResponse,
  type KeyResponse,
  type ModelResponse,
  type ModelsQuery,
  type ModelsResponse,
  type PricingResponse,
  unrecorded,
} from './schemas.ts'

const operation = operationsOf('Models', OpenRouterErrorSchema)
const accountOperation = operationsOf('Account', OpenRouterErrorSchema)

const createOpenrouterChat = paidOperation({
  id: 'create_openrouter_chat',
  route: 'POST /chat/completions',
  tag: 'Chat',
  limits: ['holds_limit', 'searches_limit'],
  summary: 'Create a chat completion, with the id of its generation.',
  input: chat.chatRequestSchema,
  output: [chat.CompletionSchema, chat.ChunksSchema],
  envelope: OpenRouterErrorSchema,
  errors: chat.chatErrors,
  run: (ctx, spender, body, call) =>
    completeChat(ctx, spender, body, call, {
      flavor: 'openrouter',
      id: idPrefix + call.requestId,
    }),
})

const listOpenrouterModels = operation({
  ...modelOperation.list,
  id: 'list_openrouter_models',
  input: { query: schemas.ModelsQuerySchema },
  output: { 200: schemas.ModelsSchema },
  run: (ctx, { query }) => listModels(ctx, query),
})

const listOpenrouterOwnModels = operation({
  id: 'list_openrouter_own_models',
  route: 'GET /models/user',
  summary: 'List the models of a key.',
  access: key,
  input: { query: schemas.ModelsQuerySchema },
  output: { 200: schemas.ModelsSchema },
  errors: ['bad_request'],
  run: (ctx, { query }) => listModels(ctx, query),
})

const countOpenrouterModels = operation({
  id: 'count_openrouter_models',
  route: 'GET /models/count',
  summary: 'Count the models.',
  access: anyone,
  output: { 200: schemas.CountSchema },
  run: ({ catalog }) => ({ data: { count: catalog.list().length } }),
})

const getOpenrouterModel = operation({
  id: 'get_openrouter_model',
  route: 'GET /model/:author/:slug',
  summary: 'Get a model.',
  access: anyone,
  output: { 200: schemas.OneModelSchema },
  errors: ['no_model'],
  run: (ctx, { params: { author, slug } }) => ({
    data: presentModel(requireModel(ctx, `${author}/${slug}`)),
  }),
})

const listOpenrouterEndpoints = operation({
  id: 'list_openrouter_endpoints',
  route: 'GET /models/:author/:slug/endpoints',
  summary: 'List a model’s upstreams.',
  access: anyone,
  output: { 200: schemas.EndpointsSchema },
  errors: ['no_model'],
  run: (ctx, { params: { author, slug } }) => getEndpoints(ctx, `${author}/${slug}`),
})

const listOpenrouterProviders = operation({
  id: 'list_openrouter_providers',
  route: 'GET /providers',
  summary: 'List the upstreams.',
  access: anyone,
  output: { 200: schemas.ProvidersSchema },
  run: ({ upstreams }) => ({
    data: upstreams.names.map((name) => ({ name, slug: name, ...unrecorded.provider.values })),
  }),
})

const getOpenrouterKey = accountOperation({
  id: 'get_openrouter_key',
  route: 'GET /key',
  summary: 'Get the spending of your key.',
  access: key,
  output: { 200: schemas.KeySchema },
  run: (ctx, { caller: spender }) => describeKey(ctx, spender),
})

const getOpenrouterCredits = accountOperation({
  id: 'get_openrouter_credits',
  route: 'GET /credits',
  summary: 'Get the funds of your account.',
  access: key,
  output: { 200: schemas.CreditsSchema },
  run: (ctx, { caller: spender }) => describeCredits(ctx, spender),
})

const getOpenrouterGeneration = accountOperation({
  id: 'get_openrouter_generation',
  route: 'GET /generation',
  summary: 'Get the cost of a chat.',
  access: key,
  input: { query: schemas.GenerationQuerySchema },
  output: { 200: schemas.GenerationSchema },
  errors: ['bad_request', 'not_found'],
  run: (ctx, { caller: spender, query }) => getGeneration(ctx, spender.account, query.id),
})

/**
 * Routes of OpenRouter's API (docs/spec/gateway-decisions.md, "OpenRouter"). Clients use them below
 * `/api/v1`.
 */
export const operations = [
  ...responseOperations,
  ...embeddingOperations,
  createOpenrouterChat,
  listOpenrouterModels,
  listOpenrouterOwnModels,
  countOpenrouterModels,
  getOpenrouterModel,
  listOpenrouterEndpoints,
  listOpenrouterProviders,
  getOpenrouterKey,
  getOpenrouterCredits,
  getOpenrouterGeneration,
]

/** Returns the calling key with its spending in USD (OpenRouter, GET /key). Days are in UTC. */
async function describeKey(ctx: AppContext, { key, cap }: KeySpender): Promise<KeyResponse> {
  const since = (ago: number) =>
    sumSpendingSince(ctx.db.read, cap.key, utcDay(ctx.clock.now() - ago * day))
  const [total, today, week, month] = await Promise.all([
    sumSpendingSince(ctx.db.read, cap.key, ''),
    since(0),
    since(6),
    since(29),
  ])
  const left = (max: NanoUsd): number => toUsd(max > today ? max - today : 0n)
  return {
    data: {
      label: key.name || key.prefix,
      limit: cap.max === null ? null : toUsd(cap.max),
      limit_remaining: cap.max === null ? null : left(cap.max),
      limit_reset: cap.max === null ? null : 'daily',
      usage: toUsd(total),
      usage_daily: toUsd(today),
      usage_weekly: toUsd(week),
      usage_monthly: toUsd(month),
      byok_usage: 0,
      byok_usage_daily: 0,
      byok_usage_weekly: 0,
      byok_usage_monthly: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      allowed_data_regions: ['global'],
      free_model_daily_requests: { limit: 0, used: 0, remaining: 0 },
      rate_limit: {
        requests: ctx.state.limits.gatewayRequests.max,
        interval: '60s',
        note: 'Requests per minute from one address; 0 is no limit.',
      },
      ...unrecorded.key.values,
    },
  }
}

/**
 * Returns the funds of the account in USD (OpenRouter, GET /credits): what its model calls have
 * cost, and the sum of that and the available balance.
 */
async function describeCredits(
  ctx: AppContext,
  { owner, account }: KeySpender,
): Promise<CreditsResponse> {
  const [{ available }, used] = await Promise.all([
    balanceOf(ctx, owner),
    totalCharged(ctx.db, account),
  ])
  return { data: { total_credits: toUsd(available + used), total_usage: toUsd(used) } }
}

/** Begins the `id` of a chat response, by which GET /generation finds its charge. */
const idPrefix = 'gen-'

/** Calls of an account, newest first, among which a generation is found. */
const generationsMax = 1_000

/** Returns a call of an account by the `id` of its response. Throws `not_found`. */
async function getGeneration(
  { db }: AppContext,
  account: string,
  id: string,
): Promise<GenerationResponse> {
  const requestId = id.startsWith(idPrefix) ? id.slice(idPrefix.length) : id
  const { rows } = await listUses(db.read, { account, page: 1, size: generationsMax })
  const use = rows.find((row) => row.requestId === requestId)
  if (!use) throw new ApiError('not_found', { what: 'generation' })
  return { data: present(use) }
}

const present = (use: Use): GenerationResponse['data'] => ({
  id: idPrefix + use.requestId,
  request_id: use.requestId,
  api_type: use.type === 'embedding' ? 'embeddings' : 'completions',
  cancelled: use.status === 'interrupted',
  created_at: iso(use.at),
  data_region: 'global',
  generation_time: use.ms,
  is_byok: false,
  latency: use.firstByteMs,
  model: use.model,
  tokens_prompt: use.input,
  tokens_completion: use.output,
  native_tokens_prompt: use.input,
  native_tokens_completion: use.output,
  native_tokens_cached: use.cached,
  native_tokens_reasoning: use.reasoning,
  num_search_results: use.searches,
  origin: '',
  provider_name: use.upstream,
  total_cost: toUsd(use.charged),
  usage: toUsd(use.charged),
  ...unrecorded.generation.values,
})

/** Output modalities of OpenRouter by type of model; other types have those of the catalog. */
const outputs: Partial<Record<ModelType, string[]>> = { embedding: ['embeddings'] }

/** Lists the models in the format of OpenRouter (GET /models): all, or a page of them. */
function listModels({ catalog }: AppContext, { offset = 0, limit }: ModelsQuery): ModelsResponse {
  const models = catalog.list()
  const end = limit === undefined ? models.length : offset + limit
  const data = models.slice(offset, end).map(presentModel)
  return { data, total_count: models.length, links: { next: null } }
}

/** Returns a model with its upstreams (GET /models/{id}/endpoints). Throws `no_model`. */
function getEndpoints(ctx: AppContext, id: string): EndpointsResponse {
  const model = requireModel(ctx, id)
  const { name, created, architecture } = presentModel(model)
  const endpoints = model.offers.map((offer) => presentOffer(ctx, model, offer))
  const described = { ...architecture, instruct_type: null, tokenizer: 'Other' }
  return {
    data: { id: model.id, name, created, description: '', architecture: described, endpoints },
  }
}

function presentModel(model: Model): ModelResponse {
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
