import type { TSchema } from '@sinclair/typebox'

import { AddressClient } from '../../kernel/client.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { NamedOperation } from '../../kernel/http/operation.ts'
import { setRequestContext } from '../../kernel/http/request-context.ts'
import type { Operator } from '../../people/session-user.ts'
import { performAs } from '../../site/form.ts'

/** The operator at the command line of the machine, as the audit log names them. */
const commandLine: Operator = { id: 'command line', name: 'command line' }

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
  setRequestContext(request, { id: 'command line', client, bodyArrivals })
  return performAs({ ctx, request }, commandLine, operation, params, body)
}
