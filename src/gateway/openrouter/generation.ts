import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { toUsd } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { listUses, type Use } from '../models/history.ts'
import type { GenerationResponse } from './schemas.ts'

const idPrefix = 'gen-'

/** Calls of an account, newest first, among which a generation is found. */
const generationsMax = 1_000

/** Returns the id of a chat response of OpenRouter, which finds its charge (GET /generation). */
export const generationId = (requestId: string): string => idPrefix + requestId

/** Returns a call of an account by the `id` of its response. Throws `not_found`. */
export async function getGeneration(
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

/** OpenRouter's fields of which this gateway has no record. */
const unknownFields = {
  app_id: null,
  cache_discount: null,
  external_user: null,
  finish_reason: null,
  http_referer: null,
  moderation_latency: null,
  native_finish_reason: null,
  native_tokens_completion_images: null,
  num_fetches: null,
  num_input_audio_prompt: null,
  num_media_completion: null,
  num_media_prompt: null,
  preset_id: null,
  provider_responses: null,
  router: null,
  service_tier: null,
  streamed: null,
  upstream_id: null,
  upstream_inference_cost: null,
  user_agent: null,
  web_search_engine: null,
  workspace_id: null,
} as const

const present = (use: Use): GenerationResponse['data'] => ({
  ...unknownFields,
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
})
