import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { defineRow } from '../../money/ledger/settlement-rows.ts'
import * as apps from '../apps.ts'

/** The generated icon of an app, in the settlement that pays for it. */
export const iconRow = defineRow(
  'icon',
  Type.Object({
    app: Type.Object({ id: Type.String(), maker: Type.String() }),
    icon: Type.String(),
    iconGiven: Type.Boolean(),
  }),
  {
    lock: (ctx: AppContext, db, { app }) => apps.lockApp(ctx, db, app),
    async write(ctx: AppContext, db, rows) {
      for (const { data } of rows) {
        const { app, ...fields } = data
        const locked = await apps.lockApp(ctx, db, app)
        apps.requireAvailable(await apps.updateApp(ctx, db, locked, fields))
      }
    },
  },
)
