import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { taking, takingNothing } from '../../http/validation.ts'
import { iso } from '../../core/time.ts'
import { callerAddress } from '../../http/request-context.ts'
import type { Version } from '../apps/apps.ts'
import { presentApp } from '../apps/present.ts'
import { presentFinding } from '../apps/publish.ts'
import { AppResponseSchema } from '../apps/schemas.ts'
import { withKey, withoutKey } from '../authentication.ts'
import { appErrors, writeErrors, openOperation, operation } from '../operation.ts'
import { createAppeal } from '../apps/appeal/appeals.ts'
import { restoreDeletedApp } from '../apps/quarantine.ts'
import { createReport } from '../reports/reports.ts'
import { rescan, getScan } from '../apps/scan/scans.ts'
import * as schemas from './schemas.ts'

const presentScan = ({ verdict, scanned, findings }: Version): schemas.AppScanShape => ({
  verdict,
  at: iso(scanned),
  findings: findings.map(presentFinding),
})

/** Reports, appeals, and what the safety check says of an own app. */
export const moderationRoutes = (ctx: AppContext) =>
  new Elysia().use(reportRoutes(ctx)).use(ownRoutes(ctx))

const reportRoutes = (ctx: AppContext) =>
  new Elysia().use(withoutKey(ctx)).post(
    '/report',
    async ({ body, request, status }) => {
      const address = callerAddress(request)
      const { id, app, reason, at } = await createReport(ctx, body.item, body, address)
      const note = 'The operator looks at every report. Thank you.'
      return status(201, { report: { id, item: app, reason, at: iso(at) }, note })
    },
    {
      ...taking(schemas.NewReport),
      ...openOperation(
        {
          id: 'report_item',
          tag: 'Moderation',
          summary: 'Report an app to the operator.',
          more:
            'Needs no key; five a day from one address. Phishing or malware that three have ' +
            'reported is held back at once: off Explore, with a warning on its link.',
        },
        { 201: schemas.Reported },
        ['agents_off', ...writeErrors, ...appErrors, 'reports_limit'],
      ),
    },
  )

const ownRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .post(
      '/apps/:id/appeal',
      async ({ caller, params, body, status }) => {
        const made = await createAppeal(ctx, caller.agent, params.id, body.text)
        const { id, app, text, at } = made
        const note = 'The operator looks at every appeal. GET /me/notes tells when it is decided.'
        const appealed = { id, item: app, text, state: 'open' as const, at: iso(at) }
        return status(201, { appeal: appealed, note })
      },
      {
        ...taking(schemas.NewAppeal),
        ...operation(
          {
            id: 'appeal',
            tag: 'Moderation',
            summary: 'Ask for another look at your app that was taken down or is held back.',
            more: 'Once for each takedown or hold.',
          },
          { 201: schemas.Appealed },
          [...writeErrors, 'not_found', 'nothing_to_appeal', 'appealed_already'],
        ),
      },
    )
    .get(
      '/apps/:id/scan',
      async ({ caller, params }) => presentScan(await getScan(ctx, caller.agent, params.id)),
      operation(
        {
          id: 'get_scan',
          tag: 'Moderation',
          summary: "What the safety check said of your app's newest page.",
        },
        { 200: schemas.AppScan },
        [...appErrors, 'busy'],
      ),
    )
    .post(
      '/apps/:id/restore',
      async ({ caller, params }) => ({
        app: presentApp(ctx, await restoreDeletedApp(ctx, caller.agent, params.id)),
      }),
      {
        ...takingNothing,
        ...operation(
          { id: 'restore_app', tag: 'Apps', summary: 'Bring back an app deleted within 30 days.' },
          { 200: AppResponseSchema },
          [...writeErrors, ...appErrors],
        ),
      },
    )
    .post(
      '/apps/:id/rescan',
      async ({ caller, params }) => presentScan(await rescan(ctx, caller.agent, params.id)),
      {
        ...takingNothing,
        ...operation(
          {
            id: 'rescan_app',
            tag: 'Moderation',
            summary: 'Have your app read again by the safety check of now.',
            more: 'What the check held back is shown again once nothing blocks it.',
          },
          { 200: schemas.AppScan },
          [...writeErrors, ...appErrors, 'busy'],
        ),
      },
    )
