import type { Static, TObject, TOptional, TSchema } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AddressClient } from '../client.ts'
import type { AppContext } from '../context.ts'
import type { RateLimitName } from '../errors.ts'
import type { Scope } from '../scopes.ts'
import type { Special, Success } from './outcome.ts'
import type { RequestContext } from './request-context.ts'

/** The party that sends a call: its headers, and the context of its request. */
export interface Sender {
  readonly method: string
  readonly headers: Headers
  readonly context: RequestContext
}

/** A call as a transport (HTTP, MCP) passes it to `perform`: nothing in it is checked. */
export interface IncomingCall extends Sender {
  params: Record<string, unknown>
  query: Record<string, unknown>
  /** The body as a value, or the request that still has it. */
  source: { value: unknown } | { request: Request }
  signal: AbortSignal
  /** The public URL of what is called. */
  resource: string
  /** The caller, where the transport has identified it. It pays only with credits. */
  caller?: unknown
}

/** The account that pays for a call, with the cap of its key. money/payment.ts has its fields. */
export interface Payer {}

/** The parties that may call an operation, and how they are identified. */
export interface Access<Caller, ErrorName extends string = string> {
  /** `agent`, `person`, `key` or `none`. */
  auth: string
  /** Errors that the authentication throws. */
  errors: readonly ErrorName[]
  /** The OpenAPI security requirement. */
  security: OpenAPIV3.SecurityRequirementObject[]
  /** Throws unless the sender may call the operation. */
  identify(ctx: AppContext, sender: Sender, operation: Operation): Caller | Promise<Caller>
  /** Returns the account that pays for a call. */
  payerOf?(caller: Caller): Payer | undefined
  /** Describes the header of operations that accept an idempotency key. */
  idempotencyHeader?: OpenAPIV3.ParameterObject
  /** The most bytes of a JSON body. Default: `jsonBodyBytesMax`. */
  bodyBytesMax?: number
}

/** A call that `perform` has checked, as an operation gets it. */
export interface Call<Caller = unknown, Params = unknown, Query = unknown, Body = unknown> {
  caller: Caller
  params: Params
  query: Query
  body: Body
  /** The idempotency key: `ref` of the body, or the header. */
  ref: string | undefined
  client: AddressClient
  headers: Headers
  signal: AbortSignal
  context: RequestContext
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The named parameters of a route, and `*` for the rest of its path. */
type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [key in Name]: string } & PathParams<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { [key in Name]: string }
    : Path extends `${string}*`
      ? { '*': string }
      : unknown

/** The value of a schema, or the default where there is none. */
type FieldsOf<Schema, Default> = [Schema] extends [never]
  ? Default
  : Schema extends TOptional<TSchema>
    ? Static<Schema> | undefined
    : Schema extends TSchema
      ? Static<Schema>
      : Default

type Outcomes = Record<number, TSchema>

/** The values that `run` may return: the value of a 200, another success, or a special outcome. */
export type Outcome<Output extends Outcomes> =
  | Special
  | (Output extends { 200: infer Schema extends TSchema }
      ? Static<Schema> | Success<200, Static<Schema>>
      : never)
  | (Output extends { 201: infer Schema extends TSchema } ? Success<201, Static<Schema>> : never)
  | (Output extends { 202: infer Schema extends TSchema } ? Success<202, Static<Schema>> : never)

/** Everything that an operation declares beside its types. */
interface Declaration<ErrorName extends string> {
  /** The operationId: a snake_case verb. It is also the name of the MCP tool. */
  id: string
  /** One line. */
  summary: string
  /** Further facts for callers, in one to three sentences. */
  description?: string
  /** Errors beside those of the access, the limits and the idempotency key. */
  errors?: readonly ErrorName[]
  /**
   * Behavior below DISK_FLOOR_BYTES. By default POST and PUT fail with `try_again`, because they
   * store something new. Everything else continues: settling money, changing and deleting.
   */
  onFullDisk?: 'allow'
  /** Accepts an idempotency key: a body's `ref`, or the header. Adds `busy` and `ref_conflict`. */
  idempotent?: true
  /** Rate limits beside that of the address, by their errors. Adds these errors. */
  limits?: readonly (ErrorName & RateLimitName)[]
  /**
   * The scope that a connector needs. `none`: no connector may call it, because what it makes
   * outlives the connector. Default: `read` for GET, and else `publish`.
   */
  scope?: Scope | 'none'
  /**
   * MCP tool. A number: its position in the core, which is always listed. `shown`: listed unless a
   * client asks for the core alone. Default: listed while there is space. `hidden`: no tool. `app`:
   * no tool, but a view of a chat calls it for its app (use_app_data).
   */
  mcp?: number | 'shown' | 'hidden' | 'app'
  /** Its result has an `app`, which hosts of chats show (MCP Apps). */
  showsApp?: true
  /** An MCP tool for one use of it, beside its own. */
  useTool?: UseTool
}

/** A tool that performs an operation without some of the fields of its body. */
export interface UseTool {
  name: string
  summary: string
  description: string
  without: readonly string[]
  required: readonly string[]
}

/** The schemas of a call. */
interface Input<Params, Query, Body, Read> {
  params?: Params
  query?: Query
  /** A JSON body. Any field of `none` is an error. Default: any JSON, which is ignored. */
  body?: Body | 'none'
  /** Reads a body that is not only JSON. */
  read?(call: IncomingCall, ctx: AppContext): Promise<Read>
  /** The bodies that `read` accepts, by media type. */
  bodies?: Record<string, { schema: OpenAPIV3.SchemaObject }>
}

interface Specification<
  ErrorName extends string,
  Route extends string,
  Caller,
  Params,
  Query,
  Body,
  Read,
  Output extends Outcomes,
> extends Declaration<ErrorName> {
  /** "PUT /explore/:id/review". */
  route: Route
  access: Access<Caller, ErrorName>
  input?: Input<Params, Query, Body, Read>
  output: Output
  run(
    ctx: AppContext,
    call: Call<
      Caller,
      FieldsOf<Params, PathParams<Route>>,
      FieldsOf<Query, undefined>,
      [Read] extends [never] ? FieldsOf<Body, unknown> : Read
    >,
  ): Outcome<Output> | Promise<Outcome<Output>>
}

export interface Operation extends Omit<Declaration<string>, 'errors'> {
  /** The area of its API. */
  tag: string
  method: string
  /** Path pattern inside its API: "/explore/:id/review". */
  path: string
  access: Access<unknown>
  /**
   * Names of the API's errors, those of the authentication first. They include its rate limits, and
   * `ref_conflict` where an idempotency key makes a repeated call safe.
   */
  errors: readonly string[]
  input: Input<TObject, TObject, TSchema, unknown>
  output: Outcomes
  /** The schemas of its errors, by status. */
  errorSchemas(): Outcomes
  run(ctx: AppContext, call: Call): unknown
}

/** An operation with the types of its calls, for code that performs it by its name. */
export interface NamedOperation<Caller, Params, Output extends Outcomes> extends Operation {
  output: Output
  run(ctx: AppContext, call: Call<Caller, Params>): unknown
}

/** Errors of every operation that credits pay for, because payments add credits (payment.ts). */
export const paymentErrors = [
  'bad_payment',
  'payment_rejected',
  'payment_used',
  'payment_pending',
] as const

/** Errors of operations that accept an idempotency key. */
const idempotencyErrors = ['busy', 'ref_conflict'] as const

type AddedError = (typeof paymentErrors)[number] | (typeof idempotencyErrors)[number]

/** Errors of calls that a payment makes succeed. */
const isPaidBy: ReadonlySet<string> = new Set(['not_enough_credits', 'payment_required'])

/** Returns the function that declares the operations of an area of an API with these errors. */
export const operationBuilder =
  <ErrorName extends string>(
    tag: string,
    errorSchemas: (names: readonly (ErrorName | AddedError)[]) => Outcomes,
  ) =>
  <
    const Route extends `${Method} /${string}`,
    Caller,
    Output extends Outcomes,
    Params extends TObject = never,
    Query extends TObject = never,
    Body extends TSchema = never,
    Read = never,
  >(
    specification: Specification<
      ErrorName | AddedError,
      Route,
      Caller,
      Params,
      Query,
      Body,
      Read,
      Output
    >,
  ): NamedOperation<Caller, FieldsOf<Params, PathParams<Route>>, Output> => {
    const { route, access, input = {}, idempotent, limits = [], errors = [] } = specification
    const [method = '', path = ''] = route.split(' ')
    const all = [
      ...access.errors,
      ...(idempotent ? idempotencyErrors : []),
      ...limits,
      ...errors,
      ...(errors.some((name) => isPaidBy.has(name)) ? paymentErrors : []),
    ]
    return {
      ...specification,
      tag,
      method,
      path,
      input,
      errors: all,
      errorSchemas: () => errorSchemas(all),
    }
  }
