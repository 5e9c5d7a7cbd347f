import { Type } from '@sinclair/typebox'

import { nullable, oneOf } from '../../kernel/schema.ts'
import { defineRow } from '../../money/ledger/settlement-rows.ts'
import { insertUses } from '../models/history.ts'

/** The history row of a paid call. The hold gives it the amounts. */
export const historyRow = defineRow(
  'use',
  Type.Object({
    account: Type.String(),
    requestId: Type.String(),
    at: Type.Number(),
    model: Type.String(),
    type: Type.String(),
    source: oneOf(['api', 'web', 'build']),
    status: oneOf(['completed', 'interrupted', 'failed']),
    upstream: nullable(Type.String()),
    /** The error of a failed call. Rows of older journals have none. */
    error: Type.Optional(nullable(Type.String())),
    /** Rows of older journals have none. */
    key: Type.Optional(nullable(Type.String())),
    price: nullable(Type.String()),
    input: Type.Number(),
    cached: Type.Number(),
    output: Type.Number(),
    reasoning: Type.Number(),
    searches: Type.Number(),
    estimated: Type.Boolean(),
    ms: Type.Number(),
    firstByteMs: nullable(Type.Number()),
  }),
  {
    write: (_ctx: unknown, db, rows) =>
      insertUses(
        db,
        rows.map(({ data, ended: { charged, amount } }) => ({ ...data, charged, held: amount })),
      ),
  },
)
