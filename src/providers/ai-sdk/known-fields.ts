import type { UpstreamPath } from '../upstream.ts'

const words = (text: string): string[] => text.trim().split(/\s+/)

/** The fields of requests that have an equivalent in the provider packages, by path. */
const knownFields: Partial<Record<UpstreamPath, string[]>> = {
  '/chat/completions': words(`
    frequency_penalty max_completion_tokens max_tokens messages n parallel_tool_calls
    presence_penalty reasoning reasoning_effort response_format seed stop temperature tool_choice
    tools top_k top_p
  `),
  '/embeddings': words('dimensions encoding_format input'),
  '/rerank': words('documents query top_n'),
  '/images/generations': words('n negative_prompt prompt response_format seed size'),
  '/images/edits': words('image mask n prompt response_format seed size'),
  '/videos': words('input_reference negative_prompt prompt seconds seed size'),
  '/audio/speech': words('input instructions response_format speed voice'),
  '/audio/transcriptions': words('file language response_format'),
}

/** Returns whether a field of a request reaches a provider. */
export const isKnownField = (path: UpstreamPath, name: string): boolean =>
  knownFields[path]?.includes(name) ?? true
