import { modelTypes } from '../../config/providers.ts'
import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Model } from '../../models/catalogue.ts'
import { type ModelType, presentPrice, type Price } from '../../models/price.ts'
import { invalidField } from '../fields.ts'
import type { ModelResponse, PriceResponse } from './schemas.ts'

/** What a request to a model of each type may carry beside `model` and its input. */
const parameters: Record<ModelType, string[]> = {
  chat: [
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'stop',
    'n',
    'seed',
    'stream',
    'frequency_penalty',
    'presence_penalty',
    'logprobs',
    'top_logprobs',
    'response_format',
    'file_id',
    'models',
    'provider',
  ],
  image: ['size', 'n', 'negative_prompt'],
  video: ['aspect_ratio', 'duration'],
  audio: ['voice', 'format', 'language'],
  embedding: ['encoding_format', 'dimensions'],
}
const withTools = ['tools', 'tool_choice', 'web_search']

/**
 * The models that are served, by the ids of their rows (document 2, GET /v1/models). `type` is one
 * or more types with commas between, or all. Refuses bad_request for another word.
 */
export function listModels({ catalogue }: AppContext, type?: string): ModelResponse[] {
  const wanted = typesIn(type ?? 'all')
  return catalogue.list(wanted).map(present)
}

function typesIn(text: string): ModelType[] | undefined {
  const words = text.split(',').map((word) => word.trim())
  const named = words.filter((word) => word !== 'all')
  const types = named.flatMap((word) => modelTypes.find((known) => known === word) ?? [])
  if (types.length === named.length) return words.includes('all') ? undefined : types
  throw invalidField(
    'type',
    `"type" is all, or some of ${modelTypes.join(', ')} with commas between.`,
  )
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** One model by its id as a path has it, with or without routing suffixes. Refuses no_model. */
export function getModel({ catalogue }: AppContext, id: string): ModelResponse {
  const found = catalogue.find(decoded(id))
  if (!found) throw new ApiError('no_model', { model: id })
  return present(found.model)
}

const present = (model: Model): ModelResponse => ({
  id: model.id,
  object: 'model',
  // OpenAI's clients read no model without it, and no list of models tells it.
  created: 0,
  owned_by: model.ownedBy,
  name: model.name,
  type: model.type,
  price: model.price ? priceOf(model.price) : {},
  supportsTools: model.supportsTools,
  inputs: model.inputs,
  outputs: model.outputs,
  context_length: model.contextLength,
  max_output: model.maxOutput,
  supported_parameters: [...parameters[model.type], ...(model.supportsTools ? withTools : [])],
})

/** Tokens cost so little that a number would lose digits; a picture or a second is a number. */
function priceOf(price: Price): PriceResponse {
  const { per_image, per_second, per_minute, per_character, per_search, ...tokens } =
    presentPrice(price)
  const units = { per_image, per_second, per_minute, per_character, per_search }
  const numbers = Object.entries(units).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Number(text)]],
  )
  return { ...tokens, ...Object.fromEntries(numbers) }
}
