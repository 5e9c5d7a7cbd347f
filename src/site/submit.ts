import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { NamedOperation, Operation } from '../kernel/http/operation.ts'
import { valueOf } from '../kernel/http/outcome.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import type { Json } from '../kernel/schema.ts'
import { perform } from '../money/perform.ts'
import type { Actor } from '../people/agents/caller.ts'
import { actingAgent } from './acting-agent.ts'
import type { Form } from './forms.ts'
import type { UserRequest } from './session.ts'

type Params = Record<string, string | number>
type Outcomes = Record<number, TSchema>
type ValueOf<Output extends Outcomes> = Static<Output[keyof Output & number]>

/**
 * Performs an operation as the agent that a form names in its field `as`, with the fields of the
 * form as its body. Returns the value of its success. Throws its errors, and those of
 * `getActingAgent`.
 */
export async function submit<Path extends Params, Output extends Outcomes>(
  req: UserRequest,
  form: Form,
  operation: NamedOperation<Actor, Path, Output>,
  params: Path,
): Promise<ValueOf<Output>> {
  const agent = await actingAgent(req, form)
  return performAs(req, { agent }, operation, params, fieldsOf(operation, form))
}

/**
 * Performs an operation as the person on a page, or as one of their agents. `ref` makes it safe to
 * submit the form twice. Returns the value of its success. Throws its errors.
 */
export async function performAs<
  Caller extends object,
  Path extends Params,
  Output extends Outcomes,
>(
  { ctx, request }: Pick<UserRequest, 'ctx' | 'request'>,
  caller: Caller,
  operation: NamedOperation<Caller, Path, Output>,
  params: Path,
  body?: unknown,
  ref?: string,
): Promise<ValueOf<Output>> {
  const sender = senderOf(request)
  const headers = new Headers(sender.headers)
  if (ref) headers.set('idempotency-key', ref)
  const outcome = await perform(ctx, operation, {
    ...sender,
    headers,
    signal: request.signal,
    resource: '',
    caller,
    params,
    query: {},
    source: { value: body },
  })
  const value = valueOf(outcome)
  if (isDeclared(operation.output, value)) return value
  throw new Error(`${operation.id} returned another value`)
}

const isDeclared = <Output extends Outcomes>(
  output: Output,
  value: unknown,
): value is ValueOf<Output> => Object.values(output).some((schema) => Value.Check(schema, value))

/**
 * Reads the fields of an operation's body from a form. A field that the form does not have stays
 * out.
 */
export function fieldsOf({ input: { body } }: Operation, form: Form): Json | undefined {
  if (!body || body === 'none') return undefined
  const fields: Json = {}
  for (const [name, { type }] of Object.entries<TSchema>(body.properties)) {
    if (form.has(name)) fields[name] = fieldOf(form, name, type)
  }
  return fields
}

function fieldOf(form: Form, name: string, type: string): string | number | boolean {
  const text = form.text(name).replaceAll('\r\n', '\n').trim()
  if (type === 'boolean') return text !== 'false' && text !== 'no'
  return (type === 'integer' || type === 'number') && text !== '' ? Number(text) : text
}
