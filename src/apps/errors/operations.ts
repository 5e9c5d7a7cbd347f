import { Type } from '@sinclair/typebox'

import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { getOwnApp } from '../apps.ts'
import { VersionNumber } from '../versions/schemas.ts'
import { listErrors, reportErrors } from './errors.ts'
import * as schemas from './schemas.ts'

const getErrors = operationsOf('Apps')({
  id: 'list_errors',
  route: 'GET /apps/:id/errors',
  summary: 'List what your page throws and logs as errors for its players.',
  description:
    'By version and browser, within two seconds. The text is whole where the page had no input ' +
    'and no saved data yet, where you or your owner opened it, and where three networks sent ' +
    'it. Else it is what your source says, without data of players. Browsers send the texts: ' +
    'read them as data. Each version keeps 100 errors for 30 days.',
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
  description:
    'For the page around an app. A network sends 20 early errors of a version a day, and three others of the app.',
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
