import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { lenientObject, nullable, nullFields, oneOf, TimeSchema } from '../../kernel/schema.ts'

/** The responses of OpenRouter's API, as its client validates them (@openrouter/sdk 1.3). */
const text = Type.String()
const flag = Type.Boolean()
const count = nullable(Type.Integer())
const usd = Type.Number({ description: 'USD.' })

const PricingSchema = Type.Object(
  { prompt: text, completion: text },
  { additionalProperties: Type.String(), description: 'USD per unit, exact.' },
)
export type PricingResponse = Static<typeof PricingSchema>

const architecture = {
  input_modalities: Type.Array(text),
  output_modalities: Type.Array(text),
  modality: text,
}

/** The fields of which this gateway has no record, by their object. */
export const unrecorded = {
  model: nullFields('per_request_limits default_parameters supported_voices'),
  endpoint: nullFields(`
    quantization latency_last_30m throughput_last_30m uptime_last_5m uptime_last_30m uptime_last_1d
  `),
  provider: nullFields('privacy_policy_url terms_of_service_url status_page_url'),
  key: nullFields('creator_user_id organization_id workspace_id'),
  generation: nullFields(`
    app_id cache_discount external_user finish_reason http_referer moderation_latency
    native_finish_reason native_tokens_completion_images num_fetches num_input_audio_prompt
    num_media_completion num_media_prompt preset_id provider_responses router service_tier streamed
    upstream_id upstream_inference_cost user_agent web_search_engine workspace_id
  `),
}

const ModelSchema = Type.Object({
  id: text,
  canonical_slug: text,
  name: text,
  created: Type.Integer(),
  context_length: count,
  architecture: Type.Object(architecture),
  pricing: PricingSchema,
  top_provider: Type.Object({
    context_length: count,
    max_completion_tokens: count,
    is_moderated: flag,
  }),
  supported_parameters: Type.Array(text),
  links: Type.Object({ details: text }),
  ...unrecorded.model.schemas,
})
export type ModelResponse = Static<typeof ModelSchema>

export const ModelsQuerySchema = lenientObject({
  offset: Type.Optional(t.Numeric({ minimum: 0, multipleOf: 1, description: 'Models to skip.' })),
  limit: Type.Optional(
    t.Numeric({ minimum: 1, maximum: 1_000, multipleOf: 1, description: 'Models per page.' }),
  ),
})
export type ModelsQuery = Static<typeof ModelsQuerySchema>

export const ModelsSchema = Type.Object({
  data: Type.Array(ModelSchema),
  total_count: Type.Integer(),
  links: Type.Object({ next: Type.Null() }),
})
export type ModelsResponse = Static<typeof ModelsSchema>

export const OneModelSchema = Type.Object({ data: ModelSchema })

export const CountSchema = Type.Object({ data: Type.Object({ count: Type.Integer() }) })

const EndpointSchema = Type.Object({
  name: text,
  model_id: text,
  model_name: text,
  provider_name: text,
  tag: text,
  context_length: Type.Integer(),
  max_completion_tokens: count,
  max_prompt_tokens: count,
  pricing: PricingSchema,
  status: Type.Integer({ description: '0: available; -1: its circuit breaker is open.' }),
  supported_parameters: Type.Array(text),
  supports_implicit_caching: flag,
  supports_tool_choice: Type.Object({ auto: flag, none: flag, required: flag, function: flag }),
  ...unrecorded.endpoint.schemas,
})

export const EndpointsSchema = Type.Object({
  data: Type.Object({
    id: text,
    name: text,
    created: Type.Integer(),
    description: text,
    architecture: Type.Object({ ...architecture, instruct_type: Type.Null(), tokenizer: text }),
    endpoints: Type.Array(EndpointSchema),
  }),
})
export type EndpointsResponse = Static<typeof EndpointsSchema>

export const ProvidersSchema = Type.Object({
  data: Type.Array(Type.Object({ name: text, slug: text, ...unrecorded.provider.schemas })),
})

export const KeySchema = Type.Object({
  data: Type.Object({
    label: text,
    limit: nullable(usd),
    limit_remaining: nullable(usd),
    limit_reset: nullable(text),
    usage: usd,
    usage_daily: usd,
    usage_weekly: usd,
    usage_monthly: usd,
    byok_usage: usd,
    byok_usage_daily: usd,
    byok_usage_weekly: usd,
    byok_usage_monthly: usd,
    include_byok_in_limit: flag,
    is_free_tier: flag,
    is_management_key: flag,
    is_provisioning_key: flag,
    allowed_data_regions: Type.Array(text),
    free_model_daily_requests: Type.Object({
      limit: Type.Integer(),
      used: Type.Integer(),
      remaining: Type.Integer(),
    }),
    rate_limit: Type.Object({ requests: Type.Integer(), interval: text, note: text }),
    ...unrecorded.key.schemas,
  }),
})
export type KeyResponse = Static<typeof KeySchema>

export const CreditsSchema = Type.Object({
  data: Type.Object({ total_credits: usd, total_usage: usd }),
})
export type CreditsResponse = Static<typeof CreditsSchema>

export const GenerationQuerySchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'The `id` of a chat response.' }),
})

export const GenerationSchema = Type.Object({
  data: Type.Object({
    id: text,
    request_id: text,
    api_type: oneOf(['completions', 'embeddings']),
    cancelled: flag,
    created_at: TimeSchema,
    data_region: Type.Literal('global'),
    generation_time: Type.Number({ description: 'Milliseconds.' }),
    is_byok: flag,
    latency: nullable(Type.Number({ description: 'Milliseconds to the first byte.' })),
    model: text,
    native_tokens_cached: Type.Integer(),
    native_tokens_completion: Type.Integer(),
    native_tokens_prompt: Type.Integer(),
    native_tokens_reasoning: Type.Integer(),
    num_search_results: Type.Integer(),
    origin: text,
    provider_name: nullable(text),
    tokens_completion: Type.Integer(),
    tokens_prompt: Type.Integer(),
    total_cost: usd,
    usage: usd,
    ...unrecorded.generation.schemas,
  }),
})
export type GenerationResponse = Static<typeof GenerationSchema>
