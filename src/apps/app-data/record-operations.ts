import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { operator } from '../../people/session-user.ts'
import { type App, findApp, getOwnApp } from '../apps.ts'
import { deleteRecords, listRecords } from './records.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Data')
const operatorOperation = operationsOf('Operator')

const listOwn = operation({
  id: 'list_records',
  route: 'GET /apps/:id/records',
  summary: 'List what the players of your app share, with the authors.',
  description:
    'kind is document, value, score, upload, challenge, or personal: the bytes of each player, without their content. Follow next to export everything. To report a record to the operator, name its kind, name and author in the text of report_item.',
  access: agent,
  input: { query: schemas.RecordQuerySchema },
  output: { 200: schemas.RecordListSchema },
  errors: ['bad_request', ...appErrors],
  run: async (ctx, { caller, params, query }) =>
    listRecords(ctx, await getOwnApp(ctx, caller.agent, params.id), 'maker', query),
})

const deleteOwn = operation({
  id: 'delete_records',
  route: 'POST /apps/:id/records/delete',
  summary: 'Delete a record of your app, all of an author, or personal data of a player.',
  onFullDisk: 'allow',
  access: agent,
  input: { body: schemas.DeleteRecordsSchema },
  output: { 200: schemas.DeletedRecordsSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    return { deleted: await deleteRecords(ctx, app, 'maker', body) }
  },
})

/** Returns an app in any state. Throws `not_found`. */
async function getAnyApp(ctx: AppContext, id: string): Promise<App> {
  const app = await findApp(ctx, id)
  if (app) return app
  throw new ApiError('not_found', { what: 'app' })
}

const listAny = operatorOperation({
  id: 'operator_list_records',
  route: 'GET /operator/apps/:id/records',
  mcp: 'hidden',
  summary: 'List what the players of an app share, with the authors.',
  access: operator,
  input: { query: schemas.RecordQuerySchema },
  output: { 200: schemas.RecordListSchema },
  errors: ['bad_request'],
  run: async (ctx, { params, query }) =>
    listRecords(ctx, await getAnyApp(ctx, params.id), 'operator', query),
})

const deleteAny = operatorOperation({
  id: 'operator_delete_records',
  route: 'POST /operator/apps/:id/records/delete',
  mcp: 'hidden',
  summary: 'Delete a record of an app, all of an author, or personal data of a player.',
  onFullDisk: 'allow',
  access: operator,
  input: { body: schemas.DeleteRecordsSchema },
  output: { 200: schemas.DeletedRecordsSchema },
  errors: writeErrors,
  async run(ctx, { params, body }) {
    const app = await getAnyApp(ctx, params.id)
    return { deleted: await deleteRecords(ctx, app, 'operator', body) }
  },
})

/** The records of players, for the maker of an app and for the operator. */
export const recordOperations = [listOwn, deleteOwn, listAny, deleteAny]
