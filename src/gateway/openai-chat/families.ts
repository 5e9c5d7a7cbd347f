import { idWithin, shortId } from '../conversation/tools.ts'

/**
 * The kinds of upstreams with OpenAI's chat API, and what each writes differently. The listed
 * request fields cost nothing beside what a hold covers (docs/models.md, "Request fields"). Fields
 * with an effect beyond their request, such as slots, adapters, templates and processors of a
 * server, are on no list.
 */
export interface Family {
  /** The request fields that it receives. */
  fields: ReadonlySet<string>
  /**
   * The place of thinking in an assistant message: none, OpenRouter's `reasoning` and
   * `reasoning_details`, a field of text, or Mistral's parts of the content.
   */
  thinking: 'none' | 'details' | 'reasoning_content' | 'reasoning' | 'parts'
  /** It knows Anthropic's `cache_control`. Others reject it. */
  hasCacheMarks?: boolean
  /** It knows the `tool_choice` of the type `allowed_tools`. */
  hasAllowedTools?: boolean
  /** It knows Google's `extra_content` on tool calls, or ignores it. */
  hasExtraContent?: boolean
  /** It rejects a user after a tool, and a turn of the model at the end without `prefix`. */
  hasStrictTurns?: boolean
  /** It takes a document as Mistral's `document_url` only, and audio as a string. */
  hasBareMedia?: boolean
  /** Its maximum of texts that end the output. */
  stopsMax?: number
  /** Its name of `seed`, which it rejects. */
  seedName?: string
  /** Returns an id of a tool call that it takes. */
  callId?(id: string): string
}

const words = (text: string): string[] => text.trim().split(/\s+/)

/** OpenAI's fields (openai 7), and sampling fields that most other upstreams share. */
const shared = words(`
  cache_control frequency_penalty logit_bias logprobs max_completion_tokens
  max_tokens messages metadata min_p modalities model n parallel_tool_calls prediction
  presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
  repetition_penalty response_format safety_identifier safety_settings seed service_tier stop store
  stream stream_options temperature tool_choice tools top_a top_k top_logprobs top_p user verbosity
`)

/** Fields of vLLM, SGLang, llama.cpp, LM Studio, Ollama, and of hosted servers with their own. */
const ofServers = words(`
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
`)

const fields = (more: string): ReadonlySet<string> => new Set([...shared, ...words(more)])

const openAiIdCharsMax = 40

const families = {
  openai: {
    fields: fields('moderation'),
    thinking: 'none',
    hasAllowedTools: true,
    callId: (id) => idWithin(id, openAiIdCharsMax),
    stopsMax: 4,
  },
  openrouter: {
    fields: fields(
      'include_reasoning reasoning route session_id structured_outputs trace transforms',
    ),
    thinking: 'details',
    hasCacheMarks: true,
  },
  groq: {
    fields: fields(
      'citation_options disable_tool_validation documents include_reasoning reasoning_format',
    ),
    thinking: 'reasoning',
    stopsMax: 4,
  },
  together: {
    fields: fields('chat_template_kwargs compliance context_length_exceeded_behavior echo'),
    thinking: 'reasoning_content',
  },
  deepseek: { fields: fields('thinking'), thinking: 'reasoning_content' },
  mistral: {
    fields: fields('document_image_limit document_page_limit prompt_mode safe_prompt'),
    hasStrictTurns: true,
    hasBareMedia: true,
    seedName: 'random_seed',
    thinking: 'parts',
    callId: (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : shortId(id)),
  },
  perplexity: {
    fields: fields(`
      disable_search language_preference last_updated_after_filter last_updated_before_filter
      return_images return_related_questions search_after_date_filter search_before_date_filter
      search_domain_filter search_language_filter search_mode search_recency_filter
    `),
    thinking: 'none',
  },
  xai: { fields: new Set(shared), thinking: 'reasoning_content' },
  other: {
    fields: new Set([...shared, ...ofServers]),
    thinking: 'reasoning_content',
    hasCacheMarks: true,
    hasExtraContent: true,
  },
} satisfies Record<string, Family>

/** The families of known hosts. The subdomains of a host are of its family. */
const byHost: Record<string, Family> = {
  'openai.com': families.openai,
  'openai.azure.com': families.openai,
  'openrouter.ai': families.openrouter,
  'groq.com': families.groq,
  'together.xyz': families.together,
  'together.ai': families.together,
  'deepseek.com': families.deepseek,
  'mistral.ai': families.mistral,
  'perplexity.ai': families.perplexity,
  'x.ai': families.xai,
}

/** Returns the family of an upstream. `more`: fields that its operator added. */
export function familyOf(baseUrl: string, more: readonly string[] = []): Family {
  const host = `.${URL.parse(baseUrl)?.hostname ?? ''}`
  const [, family = families.other] =
    Object.entries(byHost).find(([known]) => host.endsWith(`.${known}`)) ?? []
  return more.length === 0 ? family : { ...family, fields: new Set([...family.fields, ...more]) }
}
