import { Type } from '@sinclair/typebox'

import { reportCharsMax, reportContactCharsMax } from '../../kernel/limits.ts'
import { IdSchema, lineSchema, oneOf, textSchema, TimeSchema } from '../../kernel/schema.ts'
import { reasonNames } from './reasons.ts'

/** POST /report. */
export const ReportSchema = Type.Object(
  {
    item: IdSchema,
    reason: oneOf(reasonNames),
    text: Type.Optional(textSchema(reportCharsMax, { description: 'Your observations.' })),
    contact: Type.Optional(
      lineSchema(reportContactCharsMax, { description: 'Contact for questions of the operator.' }),
    ),
  },
  { additionalProperties: false },
)

export const ReportResponseSchema = Type.Object({
  report: Type.Object({ id: IdSchema, item: IdSchema, reason: oneOf(reasonNames), at: TimeSchema }),
  note: Type.String(),
})
