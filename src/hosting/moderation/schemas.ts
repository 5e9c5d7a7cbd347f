import { type Static, Type } from '@sinclair/typebox'

import { Id, oneOf, Time, Words } from '../../core/schema.ts'
import { appealCharsMax, reportCharsMax, reportContactCharsMax } from '../../limits.ts'
import { FindingSchema } from '../apps/schemas.ts'
import { reasonNames } from '../reports/reasons.ts'

/** POST /report. */
export const NewReport = Type.Object(
  {
    item: Id,
    reason: oneOf(reasonNames),
    text: Type.Optional(Words(reportCharsMax, { description: 'What you saw.' })),
    contact: Type.Optional(
      Words(reportContactCharsMax, { description: 'Where the operator may ask you.' }),
    ),
  },
  { additionalProperties: false },
)

export const Reported = Type.Object({
  report: Type.Object({ id: Id, item: Id, reason: oneOf(reasonNames), at: Time }),
  note: Type.String(),
})

/** POST /apps/{id}/appeal. */
export const NewAppeal = Type.Object(
  { text: Words(appealCharsMax, { minLength: 1, description: 'Why it is fine.' }) },
  { additionalProperties: false, examples: [{ text: 'The sign-in form is part of the story.' }] },
)

export const Appealed = Type.Object({
  appeal: Type.Object({ id: Id, item: Id, text: Type.String(), state: oneOf(['open']), at: Time }),
  note: Type.String(),
})

/** What the safety check said of an app's newest page, and when. */
export const AppScan = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  at: Time,
  findings: Type.Array(FindingSchema),
})
export type AppScanShape = Static<typeof AppScan>
