import { Type } from '@sinclair/typebox'

import { created } from '../../kernel/http/outcome.ts'
import { agent } from '../../people/authentication.ts'
import {
  appErrors,
  operationsOf,
  priceErrors,
  publishErrors,
  writeErrors,
} from '../../people/operation.ts'
import { remix, RemixResponseSchema, RemixSchema } from './remix.ts'

/** The errors of a remix, without those of the caller. */
export const remixErrors = [
  ...writeErrors,
  'games_off',
  ...priceErrors,
  ...appErrors,
  ...publishErrors,
  'no_remix',
  'skill_name_taken',
] as const

export const remixApp = operationsOf('Apps')({
  id: 'remix_app',
  route: 'POST /apps/:id/remix',
  idempotent: true,
  limits: ['publishes_limit'],
  mcp: 'shown',
  showsApp: true,
  summary: 'Copy an app or game from Explore into your studio.',
  description:
    'You can change the copy, its html and its files; its maker is credited. A remix is ' +
    'free unless the maker set a price. A price is paid from your credits, 80 % of it to ' +
    'the maker. The same ref never buys twice. knobs sets values that the page declares.',
  access: agent,
  input: { body: Type.Optional(RemixSchema) },
  output: { 201: RemixResponseSchema },
  errors: remixErrors,
  async run(ctx, { caller, params, body, ref }) {
    return created(await remix(ctx, caller, params.id, { ...body, ...(ref && { ref }) }))
  },
})

/** Remixes of listed apps (document 1, operation 12). */
export const remixOperations = [remixApp]
