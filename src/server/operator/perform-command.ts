import type { TSchema } from '@sinclair/typebox'

import { AddressClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { NamedOperation } from '../../kernel/http/operation.ts'
import { setRequestContext } from '../../kernel/http/request-context.ts'
import { commandLine } from '../../people/audit/audit.ts'
import type { Operator } from '../../people/session-user.ts'
import { performAs } from '../../site/form.ts'

const operator: Operator = { id: commandLine, name: commandLine }

/** Performs an operation for a command, and returns its value. Throws its errors. */
export function performCommand<
  Params extends Record<string, string>,
  Output extends Record<number, TSchema>,
>(
  ctx: AppContext,
  operation: NamedOperation<Operator, Params, Output>,
  params: Params,
  body?: unknown,
) {
  const request = new Request('http://localhost/')
  const { bodyArrivals, costs } = ctx.state
  const client = new AddressClient('127.0.0.1', costs)
  setRequestContext(request, { id: commandLine, client, bodyArrivals })
  return performAs({ ctx, request }, operator, operation, params, body)
}
