import type { AppContext } from '../../context.ts'
import { itemsOf, recordOf } from '../../core/schema.ts'
import { embeddingInputsMax, embeddingLengthMax } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { tokensAtMost, tokensOf } from '../../models/tokens.ts'
import { readUsage, type Usage, usageOf } from '../../models/usage.ts'
import type { Call } from '../call.ts'
import { findWord, misfit, readCount, readModels } from '../fields.ts'
import type { Spender } from '../key.ts'
import { readRecord } from '../paid/answer.ts'
import { pay } from '../paid/pay.ts'
import { readPreferences } from '../paid/preferences.ts'
import type { Output, Serving, Wanted } from '../paid/serving.ts'
import { noContent, unreadable, type Verdict } from '../paid/verdict.ts'
import { formats, readVectors } from './vectors.ts'

/**
 * Texts or token ids as vectors (OpenAI's POST /v1/embeddings), paid by the input tokens. Refuses
 * bad_request and what section 7 of document 2 says.
 */
export const embed = (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  pay(ctx, spender, readWanted(raw), call)

function readWanted(raw: unknown): Wanted {
  const sent = recordOf(raw)
  const { model, models, provider, stream: _, ...body } = sent
  const modelIds = readModels(model, models)
  const inputs = readInputs(body.input)
  const format = findWord(body, 'encoding_format', formats) ?? 'float'
  readCount(body, 'dimensions', embeddingLengthMax)
  const most = ({ contextLength }: Model) =>
    Math.min(tokensAtMost(body, 0), inputs.length * (contextLength || Infinity))
  const own = (to: Model): Usage => {
    const counted = inputs.reduce((sum, input) => sum + countOf(input), 0)
    return usageOf({ prompt: Math.min(counted, most(to)), estimated: true })
  }
  return {
    path: '/embeddings',
    type: 'embedding',
    kind: 'embedding',
    modelIds,
    body,
    same: raw,
    preferences: readPreferences(provider),
    most: (to) => ({ inputTokensMax: most(to), outputTokensMax: 0 }),
    own,
    async read(response, { by, watch }: Serving): Promise<Output | Verdict> {
      const read = await readRecord(response, watch)
      if (!('answer' in read)) return read
      const { data, usage: said } = read.answer
      if (!Array.isArray(data) || data.length === 0) return noContent
      const vectors = readVectors(data, inputs.length, format)
      if (!vectors) return unreadable
      const limits = { prompt: most(by.model), completion: 0 }
      const usage = readUsage(said, limits) ?? own(by.model)
      const tokens = { prompt_tokens: usage.prompt, total_tokens: usage.prompt }
      return {
        usage,
        answer: (cost) => ({
          status: 200,
          body: {
            object: 'list',
            data: vectors,
            model: by.model.id,
            usage: { ...tokens, cost },
          },
        }),
      }
    },
  }
}

type Input = string | number[]

const countOf = (input: Input): number =>
  typeof input === 'string' ? tokensOf(input) : input.length

function readInputs(input: unknown): Input[] {
  const one = inputOf(input)
  if (one) return [one]
  const list = itemsOf(input)
  const inputs = list.map(inputOf).filter((each) => each !== undefined)
  const fits = inputs.length > 0 && inputs.length === list.length
  if (fits && inputs.length <= embeddingInputsMax) return inputs
  const what = `a text, a list of token ids, or a list of 1 to ${embeddingInputsMax} of these`
  throw misfit('input', `input is ${what}, none of them empty.`)
}

function inputOf(input: unknown): Input | undefined {
  if (typeof input === 'string') return input === '' ? undefined : input
  if (!Array.isArray(input) || input.length === 0) return undefined
  const ids: unknown[] = input
  return ids.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0)
    ? ids.map(Number)
    : undefined
}
