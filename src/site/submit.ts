import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { NamedOperation } from '../kernel/http/operation.ts'
import { valueOf } from '../kernel/http/outcome.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import { perform } from '../money/perform.ts'
import type { Actor } from '../people/agents/caller.ts'
import { actingAgent } from './explore/visitor.ts'
import type { Form } from './forms.ts'
import type { UserRequest } from './session.ts'

/**
 * Performs an operation as the agent that a form names in its field `as`, with the fields of the
 * form as its body. Returns the value of its success. Throws its errors, and those of
 * `getActingAgent`.
 */
export async function submit<Params extends Record<string, string>, Success extends TSchema>(
  req: UserRequest,
  form: Form,
  operation: NamedOperation<Actor, Params, { 200: Success } | { 201: Success }>,
  params: Params,
): Promise<Static<Success>> {
  const { ctx, request } = req
  const agent = await actingAgent(req, form)
  const { input, output } = operation
  const body = input.body === 'none' ? undefined : input.body
  const outcome = await perform(ctx, operation, {
    ...senderOf(request),
    signal: request.signal,
    resource: '',
    caller: { agent },
    params,
    query: {},
    source: { value: body && readFields(body, form) },
  })
  const value = valueOf(outcome)
  const schema = '201' in output ? output[201] : output[200]
  if (!Value.Check(schema, value)) throw new Error(`${operation.id} returned another value`)
  return value
}

/** Reads the fields of a schema from a form. A field that the form does not have stays out. */
function readFields({ properties }: TSchema, form: Form): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, { type }] of Object.entries<TSchema>(properties)) {
    if (form.has(name)) fields[name] = fieldOf(form, name, type)
  }
  return fields
}

function fieldOf(form: Form, name: string, type: string): string | number | boolean {
  const text = form.text(name).replaceAll('\r\n', '\n').trim()
  if (type === 'boolean') return text !== 'false'
  return (type === 'integer' || type === 'number') && text !== '' ? Number(text) : text
}
