import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { ApiError } from '../kernel/errors.ts'
import type { Access, NamedOperation, Operation } from '../kernel/http/operation.ts'
import { Success, valueOf } from '../kernel/http/outcome.ts'
import { senderOf } from '../kernel/http/request-context.ts'
import { type Json, recordOf } from '../kernel/schema.ts'
import { inEnglish } from '../kernel/words/words.ts'
import { perform } from '../money/perform.ts'
import { agent } from '../people/authentication.ts'
import { person } from '../people/session-user.ts'
import type { Form } from './forms.ts'
import type { Page } from './layout.ts'
import { actingAgent, type PageRequest, privatePage, redirectTo } from './session.ts'

type Params = Record<string, string | number>
type Outcomes = Record<number, TSchema>
type ValueOf<Output extends Outcomes> = Static<Output[keyof Output & number]>

/** The path that a form leads to, or the page that it shows. */
type Destination = string | Page

interface FormOptions<Path, Value, Req> {
  /** The parameters of the operation's path. */
  params?: Path | ((sent: Form) => Path)
  /** Returns the body. Default: the fields of the form that the schema of the body has. */
  fields?(sent: Form, req: Req): unknown
  /** Returns the zip that is the body instead, with the fields beside it. */
  zip?(sent: Form): Promise<Blob | undefined>
  /** Returns the key that makes it safe to submit the form twice. */
  ref?(sent: Form): string | undefined
  then: Destination | ((value: Value, sent: Form, req: Req) => Destination | Promise<Destination>)
}

/**
 * Creates the handler of a form of a page. It performs an operation, and leads to a path or a page
 * with the cookies that the operation sets. The caller is the agent in the field `as` of the form,
 * or the person who is signed in. It throws the errors of the operation, which the page shows.
 */
export const form =
  <Path extends Params, Output extends Outcomes, Req extends PageRequest = PageRequest>(
    operation: NamedOperation<never, Path, Output>,
    { params, fields, zip, ref, then }: FormOptions<Path, ValueOf<Output>, Req>,
  ) =>
  async (req: Req, sent: Form): Promise<Response> => {
    const { value, cookies } = await run(req, operation, {
      caller: await callerOf(req, operation.access, sent),
      params: typeof params === 'function' ? params(sent) : (params ?? {}),
      body: fields ? await fields(sent, req) : fieldsOf(operation, sent),
      zip: await zip?.(sent),
      ref: ref?.(sent),
    })
    const destination = typeof then === 'function' ? await then(value, sent, req) : then
    return typeof destination === 'string'
      ? redirectTo(destination, [...cookies])
      : privatePage(req, destination, cookies.length > 0 ? [...cookies] : undefined)
  }

/** Returns the caller of a form's operation; undefined where its access identifies the session. */
async function callerOf(
  req: PageRequest,
  access: Access<unknown>,
  sent: Form,
): Promise<object | undefined> {
  if (access !== agent && access !== person) return undefined
  const { ctx, visitor } = req
  if (!visitor) throw new ApiError('not_signed_in', { signIn: `${ctx.urls.app}/sign-in` })
  return access === person
    ? visitor.person
    : { agent: await actingAgent({ ...req, visitor }, sent) }
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
  req: Pick<PageRequest, 'ctx' | 'request'>,
  caller: Caller,
  operation: NamedOperation<Caller, Path, Output>,
  params: Path,
  body?: unknown,
  ref?: string,
): Promise<ValueOf<Output>> {
  return (await run(req, operation, { caller, params, body, ref })).value
}

interface PageCall {
  caller: object | undefined
  params: Params
  body: unknown
  ref: string | undefined
  zip?: Blob | undefined
}

async function run<Output extends Outcomes>(
  { ctx, request }: Pick<PageRequest, 'ctx' | 'request'>,
  operation: NamedOperation<never, never, Output>,
  { caller, params, body, ref, zip }: PageCall,
): Promise<{ value: ValueOf<Output>; cookies: readonly string[] }> {
  const sender = senderOf(request)
  const headers = new Headers(sender.headers)
  if (ref) headers.set('idempotency-key', ref)
  headers.set('content-type', zip ? 'application/zip' : 'application/json')
  const call = {
    ...sender,
    headers,
    signal: request.signal,
    resource: '',
    caller,
    params,
    query: zip ? queryOf(body) : {},
    source: zip
      ? { request: new Request(request.url, { method: 'POST', body: zip }) }
      : { value: body },
  }
  const outcome = await inEnglish(() => perform(ctx, operation, call))
  const value = valueOf(outcome)
  if (!isDeclared(operation.output, value)) {
    throw new Error(`${operation.id} returned another value`)
  }
  return { value, cookies: outcome instanceof Success ? outcome.cookies : [] }
}

/** Returns the fields beside a zip, which is the body: those that are not texts are JSON. */
const queryOf = (fields: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(recordOf(fields)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

const isDeclared = <Output extends Outcomes>(
  output: Output,
  value: unknown,
): value is ValueOf<Output> => Object.values(output).some((schema) => Value.Check(schema, value))

/**
 * Reads the fields of an operation's body from a form. A field that the form does not have stays
 * out.
 */
export function fieldsOf({ input: { body } }: Operation, sent: Form): Json | undefined {
  if (!body || body === 'none') return undefined
  const fields: Json = {}
  for (const [name, schema] of Object.entries<TSchema>(body.properties)) {
    if (sent.has(name)) fields[name] = fieldOf(sent, name, schema)
  }
  return fields
}

function fieldOf(sent: Form, name: string, schema: TSchema): string | number | boolean {
  const { type, writeOnly } = schema
  // A password may begin or end with a space.
  if (writeOnly) return sent.text(name)
  const text = sent.text(name).replaceAll('\r\n', '\n').trim()
  if (type === 'boolean') return text !== 'false' && text !== 'no'
  return (type === 'integer' || type === 'number') && text !== '' ? Number(text) : text
}
