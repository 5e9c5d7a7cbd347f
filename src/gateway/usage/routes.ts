import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { csvFile } from '../../core/csv.ts'
import { Media } from '../../core/schema.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import { formatCsv, listHistory } from './history.ts'
import * as schemas from './schemas.ts'

/** What an account used, request by request (document 2, GET /queries/history). */
export const usageRoutes = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).get(
    '/queries/history',
    async ({ spender, query }) => {
      const history = await listHistory(ctx, spender.account, query)
      return query.format === 'csv' ? csvFile('history', formatCsv(history.data)) : history
    },
    {
      query: schemas.HistoryQuerySchema,
      ...keyOperation(
        {
          id: 'list_history',
          tag: 'Account',
          summary: 'What your account used, newest first.',
          more: 'As JSON, or as CSV with format=csv. No bodies are kept.',
        },
        { 200: Type.Union([schemas.HistorySchema, Media('text/csv')]) },
        ['bad_request'],
      ),
    },
  )
