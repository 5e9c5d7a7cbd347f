import { pickFields } from '../../kernel/schema.ts'
import type { UpstreamCall, UpstreamPath } from './upstream.ts'

/**
 * The fields of requests that upstreams receive, by path. They cost nothing beside what a hold
 * covers (docs/models.md, "Request fields"). Fields with an effect beyond their request, such as
 * slots, adapters, templates and processors of a server, are on no list.
 */

const words = (text: string): string[] => text.trim().split(/\s+/)

const fields: Record<UpstreamPath, string[]> = {
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

/** Returns the fields of a request that an upstream gets. `more`: those that its operator added. */
export const requestFieldsOf = (path: UpstreamPath, more: readonly string[]): ReadonlySet<string> =>
  new Set([...fields[path], ...more])

/**
 * Builds the body of a request that is no chat. Listed fields pass unchanged, others are left out,
 * because they may cost more than the hold.
 */
export function buildRequestBody(
  { model, body, path }: UpstreamCall,
  more: readonly string[] = [],
): string | FormData {
  const known = requestFieldsOf(path, more)
  if (body instanceof FormData) return copyForm(body, model, known)
  return JSON.stringify({ ...pickFields(body, known), model })
}

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

/** Fields that an adapter sets itself. */
const ownFields = ['model', 'stream']

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
