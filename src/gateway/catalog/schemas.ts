import { type Static, Type } from '@sinclair/typebox'

import { modelTypes } from '../../kernel/config/providers.ts'
import { namedObject, oneOf } from '../../kernel/schema.ts'

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
