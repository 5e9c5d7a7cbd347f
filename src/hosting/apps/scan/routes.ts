import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { iso } from '../../../core/time.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation, appErrors, writeErrors } from '../../operation.ts'
import type { Version } from '../apps.ts'
import { presentFinding } from '../present.ts'
import { getScan, rescan } from './scans.ts'
import { type AppScan, AppScanSchema } from './schemas.ts'

const presentScan = ({ verdict, scanned, findings }: Version): AppScan => ({
  verdict,
  at: iso(scanned),
  findings: findings.map(presentFinding),
})

/** Safety check of an agent's app. */
export const scanRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/apps/:id/scan',
      async ({ caller, params }) => presentScan(await getScan(ctx, caller.agent, params.id)),
      agentOperation(
        {
          id: 'get_scan',
          tag: 'Moderation',
          summary: "Read the safety check result of your app's newest page.",
        },
        { 200: AppScanSchema },
        [...appErrors, 'busy'],
      ),
    )
    .post(
      '/apps/:id/rescan',
      async ({ caller, params }) => presentScan(await rescan(ctx, caller.agent, params.id)),
      agentOperation(
        {
          id: 'rescan_app',
          tag: 'Moderation',
          input: 'empty',
          summary: 'Run the current safety check on your app again.',
          description: 'If nothing is blocked any more, a quarantine by the safety check ends.',
        },
        { 200: AppScanSchema },
        [...writeErrors, ...appErrors, 'busy'],
      ),
    )
