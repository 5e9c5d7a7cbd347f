import type { AppContext } from '../../kernel/context.ts'
import { embeddingInputsMax, embeddingLengthMax } from '../../kernel/limits.ts'
import { itemsOf, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { findCount, findEnum, invalidField, readModels } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { type MediaCall, type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import type { WholeOutput } from '../paid/serve-call.ts'
import { noContent, unreadable, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { formats, readVectors } from './vectors.ts'

/**
 * Creates embeddings of texts or token ids (OpenAI's POST /v1/embeddings), charged by input tokens.
 * Throws `bad_request` and the errors of section 7 of document 2.
 */
export const createEmbeddings = async (
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
) => runMediaRequest(ctx, spender, parseRequest(ctx, raw, `embd-${call.requestId}`), call)

/** `id`: that of the response, which some clients require. */
function parseRequest(ctx: AppContext, raw: unknown, id: string): MediaRequest {
  const { model, models, provider, stream: _, ...body } = recordOf(raw)
  const modelIds = readModels(model, models)
  const inputs = readInputs(body.input)
  const format = findEnum(body, 'encoding_format', formats) ?? 'float'
  findCount(body, 'dimensions', embeddingLengthMax)
  const maxTokens = ({ contextLength }: Model) =>
    Math.min(maxInputTokens(body, 0), inputs.length * (contextLength || Infinity))
  const estimateUsage = (to: Model): Usage => {
    const counted = inputs.reduce((sum, input) => sum + countTokens(input), 0)
    return createUsage({ prompt: Math.min(counted, maxTokens(to)), estimated: true })
  }
  return {
    path: '/embeddings',
    type: 'embedding',
    kind: 'embedding',
    modelIds,
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    ...(inputs.some(Array.isArray) && { validate: (to) => requireTokenIds(ctx, to) }),
    maxUsage: (to) => ({ inputTokensMax: maxTokens(to), outputTokensMax: 0 }),
    estimateUsage,
    async read(
      received,
      { candidate: { model: served }, deadlines }: MediaCall,
    ): Promise<WholeOutput | UpstreamFailure> {
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const { data, usage: reported } = read.json
      if (!Array.isArray(data) || data.length === 0) return noContent
      const vectors = readVectors(data, inputs.length, format)
      if (!vectors) return unreadable
      const limits = { prompt: maxTokens(served), completion: 0 }
      const usage = readUsage(reported, limits) ?? estimateUsage(served)
      const tokens = { prompt_tokens: usage.prompt, total_tokens: usage.prompt }
      return {
        usage,
        response: (cost) => ({
          id,
          object: 'list',
          data: vectors,
          model: served.id,
          usage: { ...tokens, cost },
        }),
      }
    },
  }
}

/** Throws for a model whose upstreams take only texts: those that a provider package serves. */
function requireTokenIds({ upstreams }: AppContext, { id, offers }: Model): void {
  const kinds = offers.map(({ upstream }) => upstreams.find(upstream)?.kind ?? 'openai')
  if (kinds.some((kind) => kind === 'openai' || kind === 'demo')) return
  const problem = `${id} takes no token ids. Send text in "input": a string or a list of strings.`
  throw invalidField('input', problem)
}

type Input = string | number[]

const countTokens = (input: Input): number =>
  typeof input === 'string' ? estimateTokens(input) : input.length

function readInputs(input: unknown): Input[] {
  const single = parseInput(input)
  if (single) return [single]
  const list = itemsOf(input)
  const inputs = list.map(parseInput).filter((each) => each !== undefined)
  const isValid = inputs.length > 0 && inputs.length === list.length
  if (isValid && inputs.length <= embeddingInputsMax) return inputs
  const what = `a string, an array of token ids, or an array of 1 to ${embeddingInputsMax} of these`
  throw invalidField('input', `input must be ${what}, none of them empty.`)
}

function parseInput(input: unknown): Input | undefined {
  if (typeof input === 'string') return input === '' ? undefined : input
  if (!Array.isArray(input) || input.length === 0) return undefined
  const ids: unknown[] = input
  return ids.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0)
    ? ids.map(Number)
    : undefined
}
