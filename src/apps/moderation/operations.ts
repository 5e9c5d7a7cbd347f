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
import { createPageReport, createReport, getReportedApp } from './reports.ts'

const reportFields = {
  reason: oneOf(reasonNames),
  text: Type.Optional(textSchema(reportCharsMax, { description: 'Your observations.' })),
  contact: Type.Optional(
    lineSchema(reportContactCharsMax, { description: 'Contact for questions of the operator.' }),
  ),
}

/** POST /report. */
const ReportSchema = strictObject({ item: IdSchema, ...reportFields })

const PageReportSchema = strictObject(reportFields)

const ReportResponseSchema = Type.Object({
  report: Type.Object({ id: IdSchema, item: IdSchema, reason: oneOf(reasonNames), at: TimeSchema }),
  note: Type.String(),
})

const PageReportResponseSchema = Type.Object({
  report: Type.Object({
    id: IdSchema,
    handle: Type.String(),
    reason: oneOf(reasonNames),
    at: TimeSchema,
  }),
  note: Type.String(),
})

const note = 'Thank you. The operator reviews every report.'

const operation = operationsOf('Moderation')

export const reportItem = operation({
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
    return created({ report: { id, item: app, reason, at: iso(at) }, note })
  },
})

export const reportPage = operation({
  id: 'report_person',
  route: 'POST /people/@:handle/report',
  limits: ['reports_limit'],
  summary: 'Report the public page of a person to the operator.',
  description: 'Needs no key; the limit is five a day per address, with reports of apps.',
  access: anyone,
  input: { params: Type.Object({ handle: Type.String() }), body: PageReportSchema },
  output: { 201: PageReportResponseSchema },
  errors: ['agents_off', ...writeErrors, 'not_found'],
  async run(ctx, { params: { handle }, body, ...sender }) {
    const { group } = sender.context.client
    const { id, reason, at } = await createPageReport(ctx, handle, body, group)
    return created({ report: { id, handle: `@${handle}`, reason, at: iso(at) }, note })
  },
})

/** Reports of apps and people to the operator. */
export const reportOperations = [reportItem, reportPage]
