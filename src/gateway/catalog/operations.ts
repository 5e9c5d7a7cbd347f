import { lenientObject } from '../../kernel/schema.ts'
import { anyone } from '../authentication.ts'
import { operationsOf } from '../operation.ts'
import * as catalog from './catalog.ts'

const operation = operationsOf('Models')

/** The operations on models, as every API of clients declares them. */
export const modelOperation = {
  list: {
    route: 'GET /models',
    summary: 'List the models.',
    access: anyone,
    errors: ['bad_request'],
  },
  get: {
    route: 'GET /models/*',
    summary: 'Get a model.',
    access: anyone,
    errors: ['no_model', 'not_found'],
  },
} as const

const listModels = operation({
  id: 'list_models',
  route: 'GET /models',
  summary: 'List models and their prices.',
  description: 'The SDKs of Anthropic, Google, Mistral and Cohere get the format of their own API.',
  access: anyone,
  input: {
    query: lenientObject({ type: catalog.ModelTypesSchema }),
  },
  output: { 200: catalog.ModelListSchema },
  errors: ['bad_request'],
  run: (ctx, { query }) => ({ object: 'list' as const, data: catalog.listModels(ctx, query.type) }),
})

export const getModel = operation({
  id: 'get_model',
  route: 'GET /models/:id',
  summary: 'Get a model and its price.',
  description: 'The SDKs of Anthropic, Google, Mistral and Cohere get the format of their own API.',
  access: anyone,
  output: { 200: catalog.ModelSchema },
  errors: ['no_model', 'not_found'],
  run: (ctx, { params }) => catalog.getModel(ctx, params.id),
})

/** Routes of the models and their prices (document 2, GET /v1/models), without authentication. */
export const catalogOperations = [listModels, getModel]
