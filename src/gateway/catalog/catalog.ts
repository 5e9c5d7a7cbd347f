import { type Static, Type } from '@sinclair/typebox'

import { modelTypes } from '../../kernel/config/providers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { namedObject, oneOf } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { type ModelType, presentPrice, type Price } from '../models/price.ts'

const perToken = Type.Optional(Type.String({ description: 'USD per token, exact.' }))
const perUnit = Type.Optional(Type.Number({ description: 'USD per unit.' }))

const PriceSchema = Type.Object({
  prompt: perToken,
  completion: perToken,
  cache_read: perToken,
  cache_write: perToken,
  reasoning: perToken,
  audio: perToken,
  audio_cache_read: perToken,
  audio_completion: perToken,
  per_image: perUnit,
  per_second: perUnit,
  per_minute: perUnit,
  per_character: perUnit,
  per_search: perUnit,
  tiers: Type.Optional(
    Type.Array(
      Type.Object({
        above: Type.Integer({ description: 'Applies to prompts of more tokens.' }),
        prompt: Type.String(),
        completion: Type.String(),
        cache_read: perToken,
        cache_write: perToken,
      }),
    ),
  ),
})
export type PriceResponse = Static<typeof PriceSchema>

const types = ['all', ...modelTypes].join('|')

/** The query parameter that filters a list of models. */
export const ModelTypesSchema = Type.Optional(
  Type.String({
    description: 'Model types, separated by commas, or all.',
    described: { pattern: `^(${types})(,(${types}))*$` },
  }),
)

/** A model (document 2, section 2) with OpenAI's fields. */
export const ModelSchema = namedObject('Model', {
  id: Type.String({ description: 'The id for requests.' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Seconds since 1970; 0 when unknown.' }),
  owned_by: Type.String(),
  name: Type.String(),
  display_name: Type.String({ description: "The name, as Anthropic's clients read it." }),
  type: oneOf(modelTypes),
  price: PriceSchema,
  supportsTools: Type.Boolean({ description: 'true: supports tools and web_search.' }),
  inputs: Type.Array(Type.String()),
  outputs: Type.Array(Type.String()),
  context_length: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  max_output: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  supported_parameters: Type.Array(Type.String()),
})
export type ModelResponse = Static<typeof ModelSchema>

export const ModelListSchema = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(ModelSchema),
})

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
