import { isRecord, type Json, pickFields } from '../../kernel/schema.ts'
import type { UpstreamCall, UpstreamPath } from './upstream.ts'

/**
 * The fields of requests that upstreams receive, by path and by kind of upstream. They cost nothing
 * beside what a hold covers (docs/models.md, "Request fields"). Fields with an effect beyond their
 * request, such as slots, adapters, templates and processors of a server, are on no list.
 */

const words = (text: string): string[] => text.trim().split(/\s+/)

/** OpenAI's fields (openai 7), and sampling fields that most other upstreams share. */
const chat = words(`
  cache_control frequency_penalty logit_bias logprobs max_completion_tokens
  max_tokens messages metadata min_p modalities model n parallel_tool_calls prediction
  presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
  repetition_penalty response_format safety_identifier safety_settings seed service_tier stop store
  stream stream_options temperature tool_choice tools top_a top_k top_logprobs top_p user verbosity
`)

/** Fields of chats beside those of OpenAI, by kind of upstream. */
const chatExtensions = {
  openai: ['moderation'],
  openrouter: words(
    'include_reasoning reasoning route session_id structured_outputs trace transforms',
  ),
  groq: words(
    'citation_options disable_tool_validation documents include_reasoning reasoning_format',
  ),
  together: words('chat_template_kwargs compliance context_length_exceeded_behavior echo'),
  deepseek: ['thinking'],
  mistral: words('document_image_limit document_page_limit prompt_mode random_seed safe_prompt'),
  perplexity: words(`
    disable_search language_preference last_updated_after_filter last_updated_before_filter
    return_images return_related_questions search_after_date_filter search_before_date_filter
    search_domain_filter search_language_filter search_mode search_recency_filter
  `),
  xai: [],
  /** vLLM, SGLang, llama.cpp, LM Studio, Ollama, and hosted servers with fields of their own. */
  other: words(`
    add_generation_prompt add_special_tokens allowed_token_ids bad_words ban_eos_token
    cache_prompt cache_salt chat_template_args chat_template_kwargs clear_thinking
    context_length_exceeded_behavior continue_final_message custom_params disable_reasoning
    do_sample documents dry_allowed_length dry_base dry_multiplier dry_penalty_last_n
    dry_sequence_breakers dynamic_temperature dynatemp_exponent dynatemp_high dynatemp_low
    dynatemp_range early_stopping ebnf echo enable_thinking epsilon_cutoff eta_cutoff grammar
    guided_choice guided_decoding_backend guided_grammar guided_json guided_regex
    guided_whitespace_pattern ignore_eos include_reasoning include_stop_str_in_output
    json_schema length_penalty max_thinking_tokens min_keep min_thinking_tokens min_tokens
    mirostat mirostat_eta mirostat_lr mirostat_mode mirostat_target mirostat_tau n_keep n_probs
    no_repeat_ngram_size no_stop_trim nsigma parse_tool_calls penalty_alpha post_sampling_probs
    prompt_logprobs prompt_truncate_len reasoning_budget reasoning_format reasoning_history
    reasoning_in_content reasoning_split regex repeat_last_n repeat_penalty
    repetition_penalty_range return_progress return_token_ids return_tokens
    return_tokens_as_token_ids sampler_priority samplers separate_reasoning skip_special_tokens
    smoothing_curve smoothing_factor spaces_between_special_tokens stop_regex stop_token_ids
    stream_reasoning structural_tag structured_outputs temperature_last tfs tfs_z think thinking
    thinking_budget thinking_forced_open thinking_token_budget timings_per_token tool_stream
    top_n_sigma translation_options truncate_prompt_tokens ttl typical_p use_beam_search
    xtc_probability xtc_threshold
  `),
}
type Kind = keyof typeof chatExtensions

/** The kinds of known hosts. The subdomains of a host are of its kind. */
const kindsByHost: Record<string, Kind> = {
  'openai.com': 'openai',
  'openai.azure.com': 'openai',
  'openrouter.ai': 'openrouter',
  'groq.com': 'groq',
  'together.xyz': 'together',
  'together.ai': 'together',
  'deepseek.com': 'deepseek',
  'mistral.ai': 'mistral',
  'perplexity.ai': 'perplexity',
  'x.ai': 'xai',
}

function kindOf(baseUrl: string): Kind {
  const host = `.${URL.parse(baseUrl)?.hostname ?? ''}`
  const [, kind = 'other'] =
    Object.entries(kindsByHost).find(([known]) => host.endsWith(`.${known}`)) ?? []
  return kind
}

const media: Record<Exclude<UpstreamPath, '/chat/completions'>, string[]> = {
  '/embeddings': words(`
    dimensions embedding_type encoding_format input input_type instruction late_chunking model
    normalize normalized output_dtype prompt_name task truncate truncate_prompt_tokens truncation
    user
  `),
  '/moderations': ['input', 'model'],
  '/rerank': words(`
    documents max_chunks_per_doc max_tokens_per_doc model query top_k top_n truncate
    truncate_prompt_tokens truncation user
  `),
  '/images/generations': words(`
    aspect_ratio background cfg_scale guidance guidance_scale image image_url image_urls images
    model moderation n negative_prompt output_compression output_format prompt quality
    response_format safety_identifier seed size style user
  `),
  '/images/edits': words(`
    background image input_fidelity mask model moderation n negative_prompt output_compression
    output_format prompt quality response_format safety_identifier seed size strength style user
  `),
  '/images/variations': words('image model n response_format size user'),
  '/videos': words(`
    generate_audio guidance_scale image image_url input_reference model negative_prompt prompt seconds seed size user
  `),
  '/audio/speech': words(`
    input instructions lang_code language model normalization_options pitch response_format
    sample_rate seed speed stream_format user voice volume
  `),
  '/audio/transcriptions': words(`
    chunking_strategy diarize file hotwords include keywords known_speaker_names
    known_speaker_references language languages model prompt response_format stream temperature
    timestamp_granularities user vad_filter
  `),
  '/audio/translations': words('file model prompt response_format temperature'),
}

/** The fields that an upstream receives, by path. */
type RequestFields = Record<UpstreamPath, ReadonlySet<string>>

/** Returns the fields for the upstream at `baseUrl`. `more`: those that its operator added. */
export function requestFieldsOf(baseUrl: string, more: readonly string[] = []): RequestFields {
  const withMore = (names: string[]) => new Set([...names, ...more])
  return {
    '/chat/completions': withMore([...chat, ...chatExtensions[kindOf(baseUrl)]]),
    '/embeddings': withMore(media['/embeddings']),
    '/moderations': withMore(media['/moderations']),
    '/rerank': withMore(media['/rerank']),
    '/images/generations': withMore(media['/images/generations']),
    '/images/edits': withMore(media['/images/edits']),
    '/images/variations': withMore(media['/images/variations']),
    '/videos': withMore(media['/videos']),
    '/audio/speech': withMore(media['/audio/speech']),
    '/audio/transcriptions': withMore(media['/audio/transcriptions']),
    '/audio/translations': withMore(media['/audio/translations']),
  }
}

/** Differences of an upstream's HTTP API from OpenAI's current one. */
export interface Dialect {
  /** Its name for the output token limit; when undefined, the client's names are kept. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  /** It rejects `stream_options` and always sends the usage. */
  rejectsStreamOptions?: boolean
  /** The fields that it receives; by default those of an unknown upstream. */
  requestFields?: RequestFields
}

const unknownUpstream = requestFieldsOf('')

/**
 * Builds the body for an upstream. Listed fields pass unchanged, others are left out,
 * because they may cost more than the hold.
 */
export function buildRequestBody(call: UpstreamCall, dialect: Dialect): string | FormData {
  const { model, body, path } = call
  const fields = (dialect.requestFields ?? unknownUpstream)[path]
  if (body instanceof FormData) return copyForm(body, model, fields)
  const sent = joinEffort(pickFields(body, fields))
  const json = {
    ...sent,
    ...outputLimit(call, dialect),
    model,
    ...streamOptions(path, sent, dialect),
  }
  const text = JSON.stringify(json)
  return text.includes('"ttl":') ? JSON.stringify(withDefaultCacheTtl(json)) : text
}

/** Moves the effort into `reasoning`, because OpenRouter rejects two of them. */
function joinEffort({ reasoning_effort: effort, ...body }: Json): Json {
  if (effort === undefined) return body
  if (!isRecord(body.reasoning)) return { ...body, reasoning_effort: effort }
  return { ...body, reasoning: { effort, ...body.reasoning } }
}

/**
 * Removes `ttl` from cache marks: an hour in the cache costs more than the price covers. Schemas
 * and examples of the client keep their own fields of that name.
 */
const withDefaultCacheTtl = (body: Json): unknown =>
  withoutTtl({
    ...body,
    tools: mapRecords(body.tools, (tool) =>
      withoutTtl({ ...tool, function: withoutTtl(tool.function) }),
    ),
    messages: mapRecords(body.messages, (message) =>
      withoutTtl({ ...message, content: mapRecords(message.content, withoutTtl) }),
    ),
  })

const withoutTtl = (value: unknown): unknown =>
  isRecord(value) && isRecord(value.cache_control)
    ? { ...value, cache_control: { ...value.cache_control, ttl: undefined } }
    : value

const mapRecords = (list: unknown, change: (item: Json) => unknown): unknown =>
  Array.isArray(list) ? list.map((item: unknown) => (isRecord(item) ? change(item) : item)) : list

function copyForm(body: FormData, model: string, fields: ReadonlySet<string>): FormData {
  const form = new FormData()
  body.forEach((value, name) => {
    // OpenAI's clients write lists as name[].
    if (!fields.has(name.replace(/\[\]$/, ''))) return
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  })
  form.set('model', model)
  return form
}

/** Requests the usage of every stream, because the charge depends on it. */
function streamOptions(path: string, body: Json, { rejectsStreamOptions }: Dialect) {
  if (path !== '/chat/completions') return {}
  if (rejectsStreamOptions) return { stream_options: undefined }
  if (body.stream !== true) return {}
  const options = typeof body.stream_options === 'object' ? body.stream_options : {}
  return { stream_options: { ...options, include_usage: true } }
}

/** Returns the lower output token limit of client and hold; undefined when there is none. */
export function outputTokenLimit({ body, outputTokensMax }: UpstreamCall): number | undefined {
  if (body instanceof FormData) return undefined
  const limits = [body.max_tokens, body.max_completion_tokens, outputTokensMax]
  const numbers = limits.filter((limit) => typeof limit === 'number')
  return numbers.length > 0 ? Math.min(...numbers) : undefined
}

/** Sets that limit under the name that the upstream knows. */
function outputLimit(call: UpstreamCall, { outputName }: Dialect) {
  const { path, body } = call
  const limit = outputTokenLimit(call)
  if (path !== '/chat/completions' || body instanceof FormData || limit === undefined) return {}
  if (outputName) {
    return { max_tokens: undefined, max_completion_tokens: undefined, [outputName]: limit }
  }
  if (typeof body.max_completion_tokens !== 'number') return { max_tokens: limit }
  return {
    ...(typeof body.max_tokens === 'number' && { max_tokens: limit }),
    max_completion_tokens: limit,
  }
}

/** Fields that an adapter sets itself, and fields of this gateway. */
const ownFields = ['model', 'stream', 'stream_options']

/** Returns the fields of a request that have a value and are not among those of an upstream. */
export function ignoredFields(
  body: UpstreamCall['body'],
  isKnown: (name: string) => boolean,
): string[] {
  const isIgnored = (name: string): boolean => !isKnown(name) && !ownFields.includes(name)
  if (!(body instanceof FormData)) {
    return Object.keys(body).filter((name) => isIgnored(name) && (body[name] ?? null) !== null)
  }
  // OpenAI's clients write lists as name[].
  const names = new Set([...body.keys()].map((name) => name.replace(/\[\]$/, '')))
  return [...names].filter(isIgnored)
}
