import { Type } from '@sinclair/typebox'

import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { getOwnApp } from '../apps.ts'
import { VersionNumber } from '../versions/schemas.ts'
import * as schemas from './errors.ts'
import { listErrors, reportErrors } from './errors.ts'

const getErrors = operationsOf('Apps')({
  id: 'list_errors',
  route: 'GET /apps/:id/errors',
  summary: 'List what your page throws and logs as errors for its players.',
  description:
    'By version and browser, without data of players: an error is listed when three networks ' +
    'sent it, or when your owner saw it. Each version keeps 100 errors for 30 days.',
  access: agent,
  input: { query: Type.Object({ version: Type.Optional(VersionNumber) }) },
  output: { 200: schemas.AppErrorListSchema },
  errors: ['bad_request', ...appErrors],
  async run(ctx, { caller, params, query }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    return listErrors(ctx, app, query.version)
  },
})

const report = operationsOf('Playing')({
  id: 'report_errors',
  route: 'POST /apps/:id/errors',
  mcp: 'hidden',
  summary: 'Report what the page of an app throws.',
  description: 'For the page around an app. A network sends three errors of an app a day.',
  access: visitor,
  input: { params: Type.Object({ id: Type.String() }), body: schemas.ReportErrorsSchema },
  output: { 200: schemas.ReportedErrorsSchema },
  errors: [...writeErrors, ...appErrors, 'busy'],
  async run(ctx, { params, body, ...sender }) {
    await reportErrors(ctx, params.id, body, sender)
    return { note: 'Counted.' }
  },
})

/** Errors of pages: reported by the viewer, read by their makers. */
export const errorOperations = [getErrors, report]
