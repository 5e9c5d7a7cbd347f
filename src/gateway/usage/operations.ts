import { Type } from '@sinclair/typebox'

import { csv } from '../../kernel/http/outcome.ts'
import { mediaSchema } from '../../kernel/schema.ts'
import { key } from '../authentication.ts'
import { operationsOf } from '../operation.ts'
import * as groups from './groups.ts'
import * as history from './history.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Account')

const listUsage = operation({
  id: 'list_usage',
  route: 'GET /accounts/usage',
  summary: 'Add up the usage of your account by day, key, model, upstream, tag or project.',
  description: 'As JSON, or as CSV with `format=csv`; the highest cost first.',
  access: key,
  input: { query: schemas.UsageQuerySchema },
  output: { 200: Type.Union([schemas.UsageGroupsSchema, mediaSchema('text/csv')]) },
  errors: ['bad_request'],
  async run(ctx, { caller: spender, query }) {
    const usage = await groups.listUsage(ctx, spender, query)
    return query.format === 'csv' ? csv('usage', groups.formatUsage(usage.data)) : usage
  },
})

const listHistory = operation({
  id: 'list_history',
  route: 'GET /queries/history',
  summary: 'List the usage of your account, newest first.',
  description: 'As JSON, or as CSV with `format=csv`. Request and response bodies are not stored.',
  access: key,
  input: { query: schemas.HistoryQuerySchema },
  output: { 200: Type.Union([schemas.HistorySchema, mediaSchema('text/csv')]) },
  errors: ['bad_request'],
  async run(ctx, { caller: spender, query }) {
    const listed = await history.listHistory(ctx, spender.account, query)
    return query.format === 'csv' ? csv('history', history.formatHistory(listed.data)) : listed
  },
})

export const usageOperations = [listUsage, listHistory]
