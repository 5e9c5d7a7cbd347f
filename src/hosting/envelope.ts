import { type TProperties, type TSchema, Type } from '@sinclair/typebox'

import { oneOf } from '../core/schema.ts'
import { cannotTake } from '../db/error.ts'
import { ApiError, type HostingErrorName } from '../errors.ts'
import type { Row } from './messages/row.ts'
import { table } from './messages/table.ts'

/** A refusal in this API's words: the status and the body of its answer. */
export function wordsOf<N extends HostingErrorName>(refusal: ApiError<N>) {
  const row: Row<N> = table[refusal.errorName]
  const error = row.say(...refusal.details)
  const more = row.more?.(...refusal.details)
  return { status: row.status, body: { error, code: row.code ?? refusal.errorName, ...more } }
}

/** A refusal as this API's answer: status, `{ error, code }`, and how and when to try again. */
export function answerOf<N extends HostingErrorName>(refusal: ApiError<N>): Response {
  const { status, body } = wordsOf(refusal)
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
export function errorAnswer(error: unknown, fault: () => Response): Response {
  if (isOurs(error)) return answerOf(error)
  return cannotTake(error) ? answerOf(new ApiError('try_again', {})) : fault()
}

/** Whether an error is a refusal that this API has words for. */
export const isOurs = (error: unknown): error is ApiError<HostingErrorName> =>
  error instanceof ApiError && error.errorName in table

/** What is no refusal is a fault of ours: it is logged, and the caller is told only that. */
export const faultWords = (requestId: string) => ({
  error: `Something went wrong here. Nothing was charged. Tell the operator: ${requestId}`,
  code: 'internal',
})

export const faultAnswer = (requestId: string): Response =>
  Response.json(faultWords(requestId), { status: 500 })

/** A path or a method that is no operation. */
export function noSuchOperation(method: string, path: string, baseUrl: string): Response {
  const error = `There is no ${method} ${path}. GET ${baseUrl} tells what there is.`
  return Response.json({ error, code: 'not_found' }, { status: 404 })
}

/** A status has several codes, and these fields come with some of them. */
const optional = (fields: TProperties = {}): TProperties =>
  Type.Partial(Type.Object(fields)).properties

/** The typed refusals of an operation, by status, for its description. */
export function refusing(...names: HostingErrorName[]): Record<number, TSchema> {
  const byStatus = Map.groupBy(names, (name) => table[name].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      Type.Object({
        error: Type.String({ description: 'What to do next.' }),
        code: oneOf([...new Set(group.map((name) => table[name].code ?? name))]),
        ...Object.assign({}, ...group.map((name) => optional(table[name].fields))),
      }),
    ]),
  )
}
