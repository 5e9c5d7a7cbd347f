import { modelTypes } from '../../kernel/config/providers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { invalidField } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { type ModelType, presentPrice, type Price } from '../models/price.ts'
import type { ModelResponse, PriceResponse } from './schemas.ts'

/** Request parameters by model type, beside `model` and its input. */
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
  moderation: ['input'],
  rerank: ['top_n', 'return_documents'],
  realtime: [],
}
const withTools = ['tools', 'tool_choice', 'web_search']

/**
 * Lists the available models, sorted by id (document 2, GET /v1/models). `type`: types separated by
 * commas, or all. Throws `bad_request` for an unknown type.
 */
export const listModels = (ctx: AppContext, type?: string): ModelResponse[] =>
  findModels(ctx, type).map(present)

/** Returns the available models of some types, sorted by id. Throws `bad_request`. */
export const findModels = ({ catalog }: AppContext, type = 'all'): Model[] =>
  catalog.list(readTypes(type))

function readTypes(text: string): ModelType[] | undefined {
  const words = text.split(',').map((word) => word.trim())
  const named = words.filter((word) => word !== 'all')
  const types = named.flatMap((word) => modelTypes.find((known) => known === word) ?? [])
  if (types.length === named.length) return words.includes('all') ? undefined : types
  throw invalidField(
    'type',
    `"type" must be all, or some of ${modelTypes.join(', ')}, separated by commas.`,
  )
}

/** Returns the model of a path, with or without routing suffixes. Throws `no_model`. */
export const getModel = (ctx: AppContext, id: string): ModelResponse =>
  present(requireModel(ctx, id))

/** Returns the model of an id, with or without routing suffixes. Throws `no_model`. */
export function requireModel({ catalog }: AppContext, id: string): Model {
  const found = catalog.find(id)
  if (!found) throw new ApiError('no_model', { model: id })
  return found.model
}

/** Lists the request parameters of a model, beside `model` and its input. */
export const listParameters = ({ type, supportsTools }: Model): string[] => [
  ...parameters[type],
  ...(supportsTools ? withTools : []),
]

const present = (model: Model): ModelResponse => ({
  id: model.id,
  object: 'model',
  // OpenAI's clients require it, and no source of models has it.
  created: 0,
  owned_by: model.ownedBy,
  name: model.name,
  display_name: model.name,
  type: model.type,
  price: model.price ? toWirePrice(model.price) : {},
  supportsTools: model.supportsTools,
  inputs: model.inputs,
  outputs: model.outputs,
  context_length: model.contextLength,
  max_output: model.maxOutput,
  supported_parameters: listParameters(model),
})

/** Converts a price: token prices as text, to keep all digits; prices per unit as numbers. */
function toWirePrice(price: Price): PriceResponse {
  const { per_image, per_second, per_minute, per_character, per_search, ...tokens } =
    presentPrice(price)
  const units = { per_image, per_second, per_minute, per_character, per_search }
  const numbers = Object.entries(units).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Number(text)]],
  )
  return { ...tokens, ...Object.fromEntries(numbers) }
}
