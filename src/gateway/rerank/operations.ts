import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { embeddingInputsMax, promptCharsMax } from '../../kernel/limits.ts'
import {
  anyObject,
  isRecord,
  itemsOf,
  type Json,
  namedObject,
  recordOf,
} from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { findCount, invalidField, readModels, readString } from '../fields.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import { noContent, unreadable } from '../paid/upstream-failure.ts'
import { modelSchema } from '../request-schemas.ts'

/** A search unit of Cohere: a query with at most 100 documents of at most 500 tokens each. */
const documentsPerUnit = 100
const tokensPerDocument = 500
/** Tokens that templates add to each pair of query and document. */
const templateTokens = 32

/**
 * Sorts documents by their relevance for a query (POST /v1/rerank of Cohere, Jina, Together and
 * vLLM), charged by search units or by input tokens. Throws `bad_request` and the errors of section
 * 7 of document 2.
 */
export const sortDocuments = (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  runMediaRequest(ctx, spender, parseRequest(raw, `rerank-${call.requestId}`), call)

/** `id`: that of the response. */
function parseRequest(raw: unknown, id: string): MediaRequest {
  const { model, models, provider, stream: _, return_documents, ...fields } = recordOf(raw)
  const modelIds = readModels(model, models)
  const query = readString(fields, 'query', promptCharsMax)
  const documents = readDocuments(fields.documents)
  const topN = findCount(fields, 'top_n', Number.MAX_SAFE_INTEGER) ?? documents.length
  if (return_documents !== undefined && typeof return_documents !== 'boolean') {
    throw invalidField('return_documents', 'return_documents must be true or false.')
  }
  const body = { ...fields, query, documents, top_n: Math.min(topN, documents.length) }
  const max = maxUsageOf(query, documents)
  const estimate = countUsage(query, documents)
  return {
    path: '/rerank',
    type: 'rerank',
    kind: 'rerank',
    modelIds,
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    maxUsage: () => ({ inputTokensMax: max.tokens, outputTokensMax: 0, searches: max.units }),
    estimateUsage: () => estimate,
    async read(received, { candidate: { model: served }, deadlines }) {
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const sent = read.json.results ?? read.json.data
      if (!Array.isArray(sent) || sent.length === 0) return noContent
      const results = readResults(sent, documents)?.slice(0, topN)
      if (!results) return unreadable
      const usage = readRerankUsage(read.json, max, estimate)
      const counts = { prompt_tokens: usage.prompt, total_tokens: usage.prompt }
      return {
        usage,
        response: (cost) => ({
          id,
          object: 'list',
          model: served.id,
          results: return_documents
            ? results.map((one) => ({ ...one, document: { text: documents[one.index] } }))
            : results,
          usage: { ...counts, search_units: usage.searches, cost },
        }),
      }
    },
  }
}

function readDocuments(sent: unknown): string[] {
  const items = itemsOf(sent)
  const texts = items.flatMap((item) => {
    const text = isRecord(item) ? item.text : item
    return typeof text === 'string' && text !== '' ? [text] : []
  })
  const isValid = texts.length > 0 && texts.length === items.length
  if (isValid && texts.length <= embeddingInputsMax) return texts
  const problem = `documents must be a list of 1 to ${embeddingInputsMax} texts, or objects with a "text".`
  throw invalidField('documents', problem)
}

/** Upper bounds of a request: no tokenizer makes more tokens than bytes. */
function maxUsageOf(query: string, documents: string[]): { tokens: number; units: number } {
  const each = Buffer.byteLength(query) + templateTokens
  const bytes = documents.map((text) => Buffer.byteLength(text) + each)
  return {
    tokens: maxInputTokens({ query }, 0) + bytes.reduce((sum, one) => sum + one, 0),
    units: unitsOf(bytes),
  }
}

/** Counts the usage of a request: the query is read with each document. */
function countUsage(query: string, documents: string[]): Usage {
  const each = estimateTokens(query)
  const tokens = documents.map((text) => estimateTokens(text) + each)
  const prompt = tokens.reduce((sum, one) => sum + one, 0)
  return createUsage({ prompt, searches: unitsOf(tokens), estimated: true })
}

const unitsOf = (tokens: number[]): number => {
  const chunks = tokens.reduce((sum, one) => sum + Math.ceil(one / tokensPerDocument), 0)
  return Math.ceil(chunks / documentsPerUnit)
}

interface Result {
  index: number
  relevance_score: number
}

/** Reads the results, the best first. Undefined when one is no document of the request. */
function readResults(sent: unknown[], documents: string[]): Result[] | undefined {
  const results = sent.filter(isRecord).flatMap(({ index, relevance_score, score }): Result[] => {
    const value = relevance_score ?? score
    const isKnown = typeof index === 'number' && documents[index] !== undefined
    return isKnown && typeof value === 'number' ? [{ index, relevance_score: value }] : []
  })
  const isUnique = new Set(results.map(({ index }) => index)).size === results.length
  if (results.length !== sent.length || !isUnique) return undefined
  return results.toSorted((a, b) => b.relevance_score - a.relevance_score)
}

/** Returns the upstream's own counts, in any of their places, else the estimate. */
function readRerankUsage(
  { usage, meta }: Json,
  max: { tokens: number; units: number },
  estimate: Usage,
): Usage {
  const { billed_units, tokens } = recordOf(meta)
  const { search_units: units } = recordOf(billed_units)
  const isCounted = typeof units === 'number' && Number.isInteger(units) && units > 0
  const searches = isCounted ? Math.min(units, max.units) : estimate.searches
  const limits = { prompt: max.tokens, completion: 0 }
  const reported =
    readUsage(usage, limits) ?? readUsage(tokens, limits) ?? readUsage(billed_units, limits)
  if (!reported) return { ...estimate, searches, estimated: !isCounted }
  return { ...reported, searches }
}

/** The documented request. The body is parsed by hand. */
export const rerankRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'query', 'documents'],
  properties: {
    model: modelSchema('The id of a rerank model.'),
    query: { type: 'string', minLength: 1, maxLength: promptCharsMax },
    documents: {
      type: 'array',
      minItems: 1,
      maxItems: embeddingInputsMax,
      items: {
        oneOf: [
          { type: 'string', minLength: 1 },
          {
            ...anyObject,
            required: ['text'],
            properties: { text: { type: 'string', minLength: 1 } },
          },
        ],
      },
      description: 'Texts, or objects with a `text`.',
    },
    top_n: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The number of results. Default: all.',
    },
    return_documents: { type: 'boolean', default: false },
  },
}

/** The documents by relevance, in the format that Cohere, Jina, Together and vLLM share. */
const RerankSchema = namedObject('Rerank', {
  id: Type.String(),
  object: Type.Literal('list'),
  model: Type.String(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'The position of the document in the request.' }),
      relevance_score: Type.Number(),
      document: Type.Optional(Type.Object({ text: Type.String() })),
    }),
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    search_units: Type.Integer(),
    cost: Type.Number({ description: 'USD' }),
  }),
})

const rerank = paidOperation({
  id: 'rerank',
  route: 'POST /rerank',
  tag: 'Media',
  summary: 'Sort documents by their relevance for a query.',
  description: 'Charged by search units or by input tokens, as the price of the model says.',
  input: rerankRequestSchema,
  output: [RerankSchema],
  errors: mediaErrors,
  run: sortDocuments,
})

export const rerankOperations = [rerank]
