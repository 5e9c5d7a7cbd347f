import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { recordOf } from '../../kernel/schema.ts'
import { defineRow, type SettlementRow } from '../ledger/settlement-rows.ts'

/** The response that a replay of an idempotency key returns (money/idempotency/idempotency.ts). */
export const responseRow = defineRow(
  'response',
  Type.Object({
    owner: Type.String(),
    slot: Type.String(),
    status: Type.Integer(),
    body: Type.Unknown(),
  }),
  {
    async write({ idempotency }: Pick<AppContext, 'idempotency'>, db, rows) {
      for (const { data } of rows) {
        const { owner, slot, status, body } = data
        await idempotency.storeSlot(db, owner, slot, { status, body })
      }
    },
  },
)

/** Returns whether a row is the response of an owner's idempotency key, of any request. */
export function isResponseOf({ kind, data }: SettlementRow, owner: string, key: string): boolean {
  const response = recordOf(data)
  const [, ofKey] = String(response.slot).split(' ')
  return kind === responseRow.kind && response.owner === owner && ofKey === key
}
