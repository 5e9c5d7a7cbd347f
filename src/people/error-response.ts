import { type TProperties, type TSchema, Type } from '@sinclair/typebox'

import { isWriteUnavailable } from '../kernel/db/error.ts'
import { ApiError, type HostingErrorName } from '../kernel/errors.ts'
import { methodList } from '../kernel/http/allowed-methods.ts'
import { type ErrorReply, errorResponse } from '../kernel/http/response.ts'
import { oneOf } from '../kernel/schema.ts'
import { t } from '../kernel/words/message.ts'
import type { ErrorRow } from './error-messages/row.ts'
import { errorTable } from './error-messages/table.ts'

/** Returns the status and the body of an error (document 1, section 7). */
export function errorEnvelope<N extends HostingErrorName>(error: ApiError<N>) {
  const row: ErrorRow<N> = errorTable[error.errorName]
  const fields = row.details?.(...error.details)
  const body = { error: textOf(row.message, error), code: row.code ?? error.errorName, ...fields }
  return { status: row.status, body }
}

function textOf<N extends HostingErrorName>(
  text: ErrorRow<N>['message'],
  { details }: ApiError<N>,
): string {
  if (typeof text !== 'string') return text(...details)
  return text.includes('{') ? t(text, valuesOf(details[0])) : t(text)
}

const valuesOf = (details: object = {}) =>
  Object.fromEntries(
    Object.entries<unknown>({ ...details }).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [],
    ),
  )

/** Returns the message of an error for people, in the language of the page. */
function pageMessage<N extends HostingErrorName>(error: ApiError<N>): string {
  const row: ErrorRow<N> = errorTable[error.errorName]
  return textOf(row.onPage ?? row.message, error)
}

/** Returns an error as clients get it, with the headers for a retry. */
function errorReply<N extends HostingErrorName>(error: ApiError<N>): ErrorReply {
  const { status, body } = errorEnvelope(error)
  const { retryAfter }: { retryAfter?: number } = error.details[0] ?? {}
  const headers: Record<string, string> = {}
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  if (status === 429) headers['retry-after'] = String(retryAfter ?? 60)
  if (status === 409 && retryAfter !== undefined) headers['retry-after'] = String(retryAfter)
  // Its message says "in a minute".
  if (error.errorName === 'try_again') headers['retry-after'] = '60'
  if (status === 202) headers['retry-after'] = '2'
  return { status, headers, body }
}

/** Returns the response to an error. */
export const apiErrorResponse = <N extends HostingErrorName>(error: ApiError<N>): Response =>
  errorResponse(errorReply(error))

/**
 * Returns any error as clients get it; undefined for one that is not of this API. A database or
 * disk that is temporarily unable to write gives `try_again`.
 */
export function findReply(error: unknown): ErrorReply | undefined {
  const known = knownError(error)
  return known && errorReply(known)
}

/** Returns the error of this API that an error is for its client; undefined for a fault. */
export function knownError(error: unknown): ApiError<HostingErrorName> | undefined {
  if (isHostingError(error)) return error
  return isWriteUnavailable(error) ? new ApiError('try_again', {}) : undefined
}

/**
 * Returns the status, message and headers of an expected error, or of a database or disk that
 * cannot take a write; undefined for an internal error.
 */
export function describeError(error: unknown) {
  const known = knownError(error)
  if (!known) return undefined
  const { status, headers: all } = errorReply(known)
  const { 'retry-after': wait } = all
  const headers: Record<string, string> = wait === undefined ? {} : { 'retry-after': wait }
  return { status, message: pageMessage(known), headers }
}

const isHostingError = (error: unknown): error is ApiError<HostingErrorName> =>
  error instanceof ApiError && Object.hasOwn(errorTable, error.errorName)

/** Returns the body of an internal error. Its cause is only in the log, under `requestId`. */
export const internalErrorBody = (requestId: string) => ({
  error: t(
    'This server failed with an internal error. Nothing was charged. Send the operator this request id: {id}',
    {
      id: requestId,
    },
  ),
  code: 'internal',
})

export const internalErrorReply = (requestId: string): ErrorReply => ({
  status: 500,
  headers: {},
  body: internalErrorBody(requestId),
})

/** Returns the error of a path without this method: 405 with `allowed`, or 404 without any. */
export function unknownOperation(
  method: string,
  path: string,
  { allowed, baseUrl }: { allowed: readonly string[]; baseUrl: string },
): ErrorReply {
  const list = `GET ${baseUrl} lists the operations.`
  if (allowed.length === 0) {
    const error = `${method} ${path} does not exist. ${list}`
    return { status: 404, headers: {}, body: { error, code: 'not_found' } }
  }
  const error = `${path} does not support ${method}. Use ${methodList(allowed)}. ${list}`
  const headers = { allow: allowed.join(', ') }
  return { status: 405, headers, body: { error, code: 'method_not_allowed' } }
}

/** A status has several codes, and each field comes with some of them. */
const optional = (fields: TProperties = {}): TProperties =>
  Type.Partial(Type.Object(fields)).properties

/** Returns the schemas of an operation's errors, by status. */
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
