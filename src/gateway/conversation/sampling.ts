import { type Json, lookUp } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import type { ChatRequest, Sampling } from './chat-request.ts'

/** An API's names of the numbers of `Sampling` that it knows. */
export type SamplingNames = Partial<Record<keyof Sampling, string>>

/** OpenAI's names, by which errors and ignored fields are known. */
export const openAiNames = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  minP: 'min_p',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
} as const satisfies Record<keyof Sampling, string>

/** Reads the numbers under an API's names. `within` is the path of `body`. Throws `bad_request`. */
export function readSampling(body: Json, names: SamplingNames, within = ''): Sampling {
  const numbers = Object.entries(names).flatMap(([name, own]) => {
    const value = body[own] ?? undefined
    if (value === undefined) return []
    if (typeof value === 'number') return [[name, value]]
    throw invalidField(within + own, `${within}${own} must be a number.`)
  })
  return Object.fromEntries(numbers)
}

/** Returns the numbers under an API's names. */
export const writeSampling = (sampling: Sampling, names: SamplingNames): Json =>
  Object.fromEntries(
    Object.entries(sampling).flatMap(([name, value]) => {
      const own = lookUp(names, name)
      return own === undefined || value === undefined ? [] : [[own, value]]
    }),
  )

/** Returns the names in OpenAI's chat of what a request sets and an API with these names lacks. */
export const unknownFields = (
  { extra, sampling }: Pick<ChatRequest, 'extra' | 'sampling'>,
  names: SamplingNames,
): string[] => [
  ...Object.keys(extra).filter((name) => extra[name] != null),
  ...Object.keys(sampling).flatMap((name) =>
    Object.hasOwn(names, name) ? [] : (lookUp(openAiNames, name) ?? []),
  ),
]
