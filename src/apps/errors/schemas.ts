import { type Static, Type } from '@sinclair/typebox'

import { errorsPerReportMax, errorTextCharsMax } from '../../kernel/limits.ts'
import { namedObject, oneOf, strictObject, TimeSchema } from '../../kernel/schema.ts'

const kinds = ['thrown', 'rejected', 'logged'] as const

/** An error, as the shell of a page sends it. */
const SentErrorSchema = strictObject({
  kind: oneOf(kinds),
  text: Type.String({ maxLength: errorTextCharsMax }),
  file: Type.Optional(Type.String({ maxLength: 240 })),
  line: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  column: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  early: Type.Optional(
    Type.Boolean({ description: 'Its page had no input and no saved data of its player yet.' }),
  ),
})
export type SentError = Static<typeof SentErrorSchema>

/** POST /apps/{id}/errors. */
export const ReportErrorsSchema = strictObject(
  {
    version: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    errors: Type.Array(SentErrorSchema, { minItems: 1, maxItems: errorsPerReportMax }),
  },
  { examples: [{ version: 1, errors: [{ kind: 'thrown', text: 'ReferenceError: x', line: 3 }] }] },
)
export type ReportErrorsRequest = Static<typeof ReportErrorsSchema>

export const ReportedErrorsSchema = Type.Object({ note: Type.String() })

/** An error of a page, counted over all browsers. */
const AppErrorSchema = namedObject('AppError', {
  version: Type.Integer(),
  kind: oneOf(kinds),
  text: Type.String(),
  file: Type.String({ description: 'Path in the folder; empty for the page itself.' }),
  line: Type.Integer({ description: '0 where it is not known.' }),
  column: Type.Integer(),
  count: Type.Integer({
    description: 'Opens of the page that had it. A network counts 20 a day at most.',
  }),
  browsers: Type.Array(Type.Object({ name: Type.String(), count: Type.Integer() })),
  first: TimeSchema,
  last: TimeSchema,
})
export type AppErrorBody = Static<typeof AppErrorSchema>

export const AppErrorListSchema = Type.Object({
  errors: Type.Array(AppErrorSchema, { description: 'At most 100, the newest first.' }),
  waiting: Type.Boolean({
    description: 'The whole texts of other errors were sent by fewer than three networks.',
  }),
})
