import type { OpenAPIV3 } from 'openapi-types'

import { choicesMax, fallbackModelsMax, imageSideMax, modelIdCharsMax } from '../kernel/limits.ts'
import { lookUp } from '../kernel/schema.ts'

type Schema = OpenAPIV3.SchemaObject

export const modelSchema = (description: string): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength: modelIdCharsMax,
  description,
})

/** The most tokens of an output. */
export const maxTokensSchema: Schema = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'A lower value holds fewer credits.',
}

/** A side of 1 to 8,192 pixels: `imageSideMax`. */
const side = '(?:[1-9]\\d{0,2}|[1-7]\\d{3}|80\\d\\d|81[0-8]\\d|819[0-2])'

/** A size in pixels. */
export const sizeSchema: Schema = {
  type: 'string',
  pattern: `^${side}x${side}$`,
  description: `WIDTHxHEIGHT, each at most ${imageSideMax}.`,
}

const names: Schema = { type: 'array', maxItems: 50, items: { type: 'string' }, nullable: true }

/** The field `provider`, which paid/preferences.ts reads. */
export const providerSchema: Schema = {
  type: 'object',
  additionalProperties: {},
  properties: {
    order: names,
    only: names,
    ignore: names,
    allow_fallbacks: { type: 'boolean' },
    sort: { type: 'string', enum: ['price', 'throughput'], nullable: true },
  },
  description: 'Preferences: order, only, ignore, allow_fallbacks, sort, max_price.',
}

/** The field `models`. */
export const fallbacksSchema: Schema = {
  type: 'array',
  maxItems: fallbackModelsMax,
  items: modelSchema('The id of a model.'),
  description: 'Fallback models, in order.',
}

/** The fields of a chat request that other APIs share with it. */
const sharedSchemas: Record<string, Schema> = {
  models: fallbacksSchema,
  provider: providerSchema,
  web_search: { type: 'boolean' },
  n: { type: 'integer', minimum: 1, maximum: choicesMax },
  stream_options: { type: 'object', additionalProperties: {}, nullable: true },
}

/** An object of a type with the fields that it requires. It may have others. */
export const typedSchema = (type: string, required: Record<string, Schema> = {}): Schema => ({
  type: 'object',
  additionalProperties: {},
  required: ['type', ...Object.keys(required)],
  properties: { type: { type: 'string', enum: [type] }, ...required },
})

/** Fields that an operation gives to the parser of a chat, or ignores. Other names are errors. */
export const knownFields = (names: readonly string[]): Record<string, Schema> =>
  Object.fromEntries(names.map((name) => [name, lookUp(sharedSchemas, name) ?? {}]))
