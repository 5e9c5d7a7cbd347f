import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { iso } from '../../core/time.ts'
import { clientAddressGroup } from '../../http/request-context.ts'
import { callerAuth } from '../authentication.ts'
import { appErrors, publicOperation, writeErrors } from '../operation.ts'
import { createReport } from './reports.ts'
import { ReportResponseSchema, ReportSchema } from './schemas.ts'

/** Reports of apps to the operator. */
export const reportRoutes = (ctx: AppContext) =>
  new Elysia().use(callerAuth(ctx)).post(
    '/report',
    async ({ body, request, status }) => {
      const address = clientAddressGroup(request)
      const { id, app, reason, at } = await createReport(ctx, body.item, body, address)
      const note = 'Thank you. The operator reviews every report.'
      return status(201, { report: { id, item: app, reason, at: iso(at) }, note })
    },
    {
      body: ReportSchema,
      ...publicOperation(
        {
          id: 'report_item',
          tag: 'Moderation',
          limits: ['reports_limit'],
          summary: 'Report an app to the operator.',
          description:
            'Needs no key; the limit is five a day per address. Phishing or malware reports from ' +
            'three addresses quarantine an app at once: off Explore, with a warning on its link.',
        },
        { 201: ReportResponseSchema },
        ['agents_off', ...writeErrors, ...appErrors],
      ),
    },
  )
