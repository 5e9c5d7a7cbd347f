import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { csvResponse } from '../../core/csv.ts'
import { mediaSchema } from '../../core/schema.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import { formatUsage, listUsage } from './groups.ts'
import { formatHistory, listHistory } from './history.ts'
import * as schemas from './schemas.ts'

export const usageRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/accounts/usage',
      async ({ spender, query }) => {
        const usage = await listUsage(ctx, spender, query)
        return query.format === 'csv' ? csvResponse('usage', formatUsage(usage.data)) : usage
      },
      {
        query: schemas.UsageQuerySchema,
        ...keyOperation(
          {
            id: 'list_usage',
            tag: 'Account',
            summary:
              'Add up the usage of your account by day, key, model, upstream, tag or project.',
            description: 'As JSON, or as CSV with `format=csv`; the highest cost first.',
          },
          { 200: Type.Union([schemas.UsageGroupsSchema, mediaSchema('text/csv')]) },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/queries/history',
      async ({ spender, query }) => {
        const history = await listHistory(ctx, spender.account, query)
        return query.format === 'csv'
          ? csvResponse('history', formatHistory(history.data))
          : history
      },
      {
        query: schemas.HistoryQuerySchema,
        ...keyOperation(
          {
            id: 'list_history',
            tag: 'Account',
            summary: 'List the usage of your account, newest first.',
            description:
              'As JSON, or as CSV with `format=csv`. Request and response bodies are not stored.',
          },
          { 200: Type.Union([schemas.HistorySchema, mediaSchema('text/csv')]) },
          ['bad_request'],
        ),
      },
    )
