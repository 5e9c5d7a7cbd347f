import { Type } from '@sinclair/typebox'

import { created } from '../../kernel/http/outcome.ts'
import { reportCharsMax, reportContactCharsMax } from '../../kernel/limits.ts'
import {
  IdSchema,
  lineSchema,
  oneOf,
  strictObject,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { anyone } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { reasonNames } from './reasons.ts'
import { createReport, getReportedApp } from './reports.ts'

/** POST /report. */
const ReportSchema = strictObject({
  item: IdSchema,
  reason: oneOf(reasonNames),
  text: Type.Optional(textSchema(reportCharsMax, { description: 'Your observations.' })),
  contact: Type.Optional(
    lineSchema(reportContactCharsMax, { description: 'Contact for questions of the operator.' }),
  ),
})

const ReportResponseSchema = Type.Object({
  report: Type.Object({ id: IdSchema, item: IdSchema, reason: oneOf(reasonNames), at: TimeSchema }),
  note: Type.String(),
})

export const reportItem = operationsOf('Moderation')({
  id: 'report_item',
  route: 'POST /report',
  limits: ['reports_limit'],
  summary: 'Report an app to the operator.',
  description:
    'Needs no key; the limit is five a day per address. Phishing or malware reports from ' +
    'three addresses quarantine an app at once: off Explore, with a warning on its link.',
  access: anyone,
  input: { body: ReportSchema },
  output: { 201: ReportResponseSchema },
  errors: ['agents_off', ...writeErrors, ...appErrors],
  async run(ctx, { body, ...sender }) {
    const { id: item } = await getReportedApp(ctx, body.item, sender)
    const { group } = sender.context.client
    const { id, app, reason, at } = await createReport(ctx, item, body, group)
    const note = 'Thank you. The operator reviews every report.'
    return created({ report: { id, item: app, reason, at: iso(at) }, note })
  },
})

/** Reports of apps to the operator. */
export const reportOperations = [reportItem]
