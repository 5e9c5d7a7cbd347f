import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { csvFile } from '../../core/csv.ts'
import { Media } from '../../core/schema.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import * as schemas from './schemas.ts'
import { csvOf, historyOf } from './usage.ts'

/** What an account used, request by request (document 2, GET /queries/history). */
export const usageRoutes = (ctx: AppContext) =>
  new Elysia().use(withKey(ctx)).get(
    '/queries/history',
    async ({ spender, query }) => {
      const history = await historyOf(ctx, spender.account, query)
      return query.format === 'csv' ? csvFile('history', csvOf(history.data)) : history
    },
    {
      query: schemas.HistoryWanted,
      ...operation(
        {
          id: 'list_history',
          tag: 'Account',
          summary: 'What your account used, newest first.',
          more: 'As JSON, or as CSV with format=csv. No bodies are kept.',
        },
        { 200: Type.Union([schemas.History, Media('text/csv')]) },
        ['bad_request'],
      ),
    },
  )
