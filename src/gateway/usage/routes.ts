import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { csvFile } from '../../core/csv.ts'
import { Media } from '../../core/shape.ts'
import type { House } from '../../house.ts'
import { withKey } from '../key.ts'
import { operation } from '../operation.ts'
import * as shapes from './shapes.ts'
import { csvOf, historyOf } from './usage.ts'

/** What an account used, request by request (document 2, GET /queries/history). */
export const usageRoutes = (house: House) =>
  new Elysia().use(withKey(house)).get(
    '/queries/history',
    async ({ spender, query }) => {
      const history = await historyOf(house, spender.account, query)
      return query.format === 'csv' ? csvFile('history', csvOf(history.data)) : history
    },
    {
      query: shapes.HistoryWanted,
      ...operation(
        {
          id: 'list_history',
          tag: 'Account',
          summary: 'What your account used, newest first.',
          more: 'As JSON, or as CSV with format=csv. No bodies are kept.',
        },
        { 200: Type.Union([shapes.History, Media('text/csv')]) },
        ['bad_request'],
      ),
    },
  )
