import { created } from '../../kernel/http/outcome.ts'
import { iso } from '../../kernel/time.ts'
import { anyone } from '../../people/authentication.ts'
import { appErrors, operation, writeErrors } from '../../people/operation.ts'
import { createReport } from './reports.ts'
import { ReportResponseSchema, ReportSchema } from './schemas.ts'

export const reportItem = operation({
  id: 'report_item',
  route: 'POST /report',
  tag: 'Moderation',
  limits: ['reports_limit'],
  summary: 'Report an app to the operator.',
  description:
    'Needs no key; the limit is five a day per address. Phishing or malware reports from ' +
    'three addresses quarantine an app at once: off Explore, with a warning on its link.',
  access: anyone,
  input: { body: ReportSchema },
  output: { 201: ReportResponseSchema },
  errors: ['agents_off', ...writeErrors, ...appErrors],
  async run(ctx, { body, client }) {
    const { id, app, reason, at } = await createReport(ctx, body.item, body, client.group)
    const note = 'Thank you. The operator reviews every report.'
    return created({ report: { id, item: app, reason, at: iso(at) }, note })
  },
})

/** Reports of apps to the operator. */
export const reportOperations = [reportItem]
