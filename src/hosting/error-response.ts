import { type TProperties, type TSchema, Type } from '@sinclair/typebox'

import { oneOf } from '../core/schema.ts'
import { isWriteUnavailable } from '../db/error.ts'
import { ApiError, type HostingErrorName } from '../errors.ts'
import type { ErrorRow } from './messages/row.ts'
import { errorTable } from './messages/table.ts'

/** A refusal in this API's words: the status and the body of its answer. */
export function errorEnvelope<N extends HostingErrorName>(refusal: ApiError<N>) {
  const row: ErrorRow<N> = errorTable[refusal.errorName]
  const error = row.message(...refusal.details)
  const more = row.details?.(...refusal.details)
  return { status: row.status, body: { error, code: row.code ?? refusal.errorName, ...more } }
}

/** A refusal as this API's answer: status, `{ error, code }`, and how and when to try again. */
export function apiErrorResponse<N extends HostingErrorName>(refusal: ApiError<N>): Response {
  const { status, body } = errorEnvelope(refusal)
  const facts: { retryAfter?: number } = refusal.details[0] ?? {}
  const headers: Record<string, string> = {}
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  if (status === 429) headers['retry-after'] = String(facts.retryAfter ?? 60)
  return Response.json(body, { status, headers })
}

/**
 * Any error as this API's answer: refusals as the table says, a database or disk that cannot take a
 * write as try_again, all else as a fault.
 */
export function errorResponse(error: unknown, fault: () => Response): Response {
  if (isHostingError(error)) return apiErrorResponse(error)
  return isWriteUnavailable(error) ? apiErrorResponse(new ApiError('try_again', {})) : fault()
}

/** Whether an error is a refusal that this API has words for. */
export const isHostingError = (error: unknown): error is ApiError<HostingErrorName> =>
  error instanceof ApiError && error.errorName in errorTable

/** What is no refusal is a fault of ours: it is logged, and the caller is told only that. */
export const internalErrorBody = (requestId: string) => ({
  error: `Something went wrong here. Nothing was charged. Tell the operator: ${requestId}`,
  code: 'internal',
})

export const internalErrorResponse = (requestId: string): Response =>
  Response.json(internalErrorBody(requestId), { status: 500 })

/** A path or a method that is no operation. */
export function unknownOperationResponse(method: string, path: string, baseUrl: string): Response {
  const error = `There is no ${method} ${path}. GET ${baseUrl} tells what there is.`
  return Response.json({ error, code: 'not_found' }, { status: 404 })
}

/** A status has several codes, and these fields come with some of them. */
const optional = (fields: TProperties = {}): TProperties =>
  Type.Partial(Type.Object(fields)).properties

/** The typed refusals of an operation, by status, for its description. */
export function errorSchemas(names: readonly HostingErrorName[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(names, (name) => errorTable[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      Type.Object({
        error: Type.String({ description: 'What to do next.' }),
        code: oneOf([...new Set(group.map((name) => errorTable[name].code ?? name))]),
        ...Object.assign({}, ...group.map((name) => optional(errorTable[name].fields))),
      }),
    ]),
  )
}
