import { Type } from '@sinclair/typebox'

import { Id, oneOf, Time, Words } from '../../core/schema.ts'
import { reportCharsMax, reportContactCharsMax } from '../../limits.ts'
import { reasonNames } from './reasons.ts'

/** POST /report. */
export const ReportSchema = Type.Object(
  {
    item: Id,
    reason: oneOf(reasonNames),
    text: Type.Optional(Words(reportCharsMax, { description: 'Your observations.' })),
    contact: Type.Optional(
      Words(reportContactCharsMax, { description: 'Contact for questions of the operator.' }),
    ),
  },
  { additionalProperties: false },
)

export const ReportResponseSchema = Type.Object({
  report: Type.Object({ id: Id, item: Id, reason: oneOf(reasonNames), at: Time }),
  note: Type.String(),
})
