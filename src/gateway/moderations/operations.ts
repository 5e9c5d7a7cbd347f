import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { embeddingInputsMax } from '../../kernel/limits.ts'
import { anyObject, isRecord, itemsOf, namedObject, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { checkUrls, invalidField, readModels } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { noContent, unreadable } from '../paid/upstream-failure.ts'
import { modelSchema, typedSchema } from '../request-schemas.ts'

/**
 * Judges texts and images (OpenAI's POST /v1/moderations), charged by input tokens where the model
 * is not free. Throws `bad_request` and the errors of section 7 of document 2.
 */
export const moderate = (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  runMediaRequest(ctx, spender, parseRequest(ctx, raw, `modr-${call.requestId}`), call)

/** `id`: that of a response without one. */
function parseRequest({ catalog }: AppContext, raw: unknown, id: string): MediaRequest {
  const { model = catalog.list(['moderation'])[0]?.id, models, provider, ...body } = recordOf(raw)
  const input = readInput(body.input)
  const maxTokens = ({ imageTokens }: Model): number =>
    maxInputTokens(body, 0) + input.images * imageTokens
  const estimateUsage = ({ imageTokens }: Model): Usage =>
    createUsage({ prompt: input.tokens + input.images * imageTokens, estimated: true })
  return {
    path: '/moderations',
    type: 'moderation',
    kind: 'moderation',
    modelIds: readModels(model, models),
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    validate({ id: name, inputs }) {
      if (input.images === 0 || inputs.includes('image')) return
      throw invalidField('input', `${name} does not judge images. Send text.`)
    },
    maxUsage: (to) => ({ inputTokensMax: maxTokens(to), outputTokensMax: 0 }),
    estimateUsage,
    async read(received, { candidate: { model: served }, deadlines }) {
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const { results, usage, id: given = id } = read.json
      if (!Array.isArray(results) || results.length === 0) return noContent
      if (results.length !== input.results || !results.every(isRecord)) return unreadable
      return {
        usage: readUsage(usage, { prompt: maxTokens(served), completion: 0 }) ?? {
          ...estimateUsage(served),
          estimated: served.price?.prompt !== 0n,
        },
        response: (cost) => ({ id: given, model: served.id, results, cost }),
      }
    },
  }
}

/** The parts of an input that its cost and its results depend on. */
interface ModerationInput {
  tokens: number
  images: number
  /** Number of results: one for each text, or one for all parts together. */
  results: number
}

function readInput(input: unknown): ModerationInput {
  if (typeof input === 'string') return { tokens: estimateTokens(input), images: 0, results: 1 }
  const items = itemsOf(input)
  if (items.length === 0 || items.length > embeddingInputsMax) throw invalidInput
  const texts = items.flatMap((item) => (typeof item === 'string' ? [item] : []))
  if (texts.length === items.length) {
    const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    return { tokens, images: 0, results: texts.length }
  }
  const read = items.map(readPart)
  return {
    tokens: read.reduce((sum, part) => sum + part.tokens, 0),
    images: read.reduce((sum, part) => sum + part.images, 0),
    results: 1,
  }
}

function readPart(part: unknown): { tokens: number; images: number } {
  const { type, text, image_url } = recordOf(part)
  if (type === 'text' && typeof text === 'string')
    return { tokens: estimateTokens(text), images: 0 }
  const { url } = recordOf(image_url)
  if (type !== 'image_url' || typeof url !== 'string') throw invalidInput
  checkUrls({ image_url })
  return { tokens: 0, images: 1 }
}

const invalidInput = invalidField(
  'input',
  `input must be a text, or a list of 1 to ${embeddingInputsMax} texts, or of text and image_url parts.`,
)

/** The documented request. The body is parsed by hand. */
const moderationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['input'],
  properties: {
    model: modelSchema('The id of a moderation model. The default is the first of GET /v1/models.'),
    input: {
      description: 'A text, a list of texts, or a list of text and image_url parts.',
      oneOf: [
        { type: 'string' },
        { type: 'array', minItems: 1, maxItems: embeddingInputsMax, items: { type: 'string' } },
        {
          type: 'array',
          minItems: 1,
          maxItems: embeddingInputsMax,
          items: {
            oneOf: [
              typedSchema('text', { text: { type: 'string' } }),
              typedSchema('image_url', {
                image_url: {
                  ...anyObject,
                  required: ['url'],
                  properties: { url: { type: 'string' } },
                },
              }),
            ],
          },
        },
      ],
    },
  },
}

/** Judgments in OpenAI's format, as the upstream returned them, with their cost. */
const ModerationSchema = namedObject('Moderation', {
  id: Type.String(),
  model: Type.String(),
  results: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  cost: Type.Number({ description: 'USD' }),
})

const createModeration = paidOperation({
  id: 'create_moderation',
  route: 'POST /moderations',
  tag: 'Media',
  summary: 'Judge texts and images by the categories of a moderation model.',
  description: 'Charged by input tokens, where the model is not free.',
  input: moderationRequestSchema,
  output: [ModerationSchema],
  errors: mediaErrors,
  run: moderate,
})

export const moderationOperations = [createModeration]
