import { type TSchema, Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'

import type { RateLimitName } from '../errors.ts'

/** Errors of every operation that credits pay for, because payments add credits (payments.ts). */
export const paymentErrors = [
  'bad_payment',
  'payment_rejected',
  'payment_used',
  'payment_pending',
] as const

/** Everything that an operation declares beside its path, method, schemas and handler. */
export interface OperationDeclaration<Tag extends string = string, Limit extends string = string> {
  /** The operationId: a snake_case verb. It is also the name of the MCP tool. */
  id: string
  tag: Tag
  /** One line. */
  summary: string
  /** Further facts for callers, in one to three sentences. */
  description?: string
  /** Request bodies by media type, where the route's own `body` does not describe them. */
  requestBodies?: Record<string, { schema: OpenAPIV3.SchemaObject }>
  /**
   * `json` (default): parsed, and validated by the route's `body`. `empty`: any field is an error.
   * `handler`: the handler reads the body.
   */
  input?: 'json' | 'empty' | 'handler'
  /**
   * Behavior below DISK_FLOOR_BYTES. By default POST and PUT fail with `try_again`, because they
   * store something new. Everything else continues: settling money, changing and deleting.
   */
  onFullDisk?: 'allow'
  /** Accepts an idempotency key: a body's `ref`, or the header. Adds `busy` and `ref_conflict`. */
  idempotent?: true
  /** Rate limits beside that of the address, by their errors. Adds these errors. */
  limits?: readonly Limit[]
  /**
   * MCP tool. A number: its position in the core, which is always listed. `shown`: listed unless a
   * client asks for the core alone. Default: listed while there is space. `hidden`: no tool.
   */
  mcp?: number | 'shown' | 'hidden'
}

/** A declared operation, complete with its API's authentication and errors. */
export interface Operation extends OperationDeclaration {
  auth: string
  /**
   * Names of the API's errors, those of the authentication first. They include its rate limits, and
   * `ref_conflict` where an Idempotency-Key or a `ref` makes a repeated call safe.
   */
  errors: readonly string[]
}

/** Authentication and documentation of the operations of one kind of caller. */
interface OperationKind<ErrorName extends string, Macro> {
  /** `agent`, `person`, `key` or `none`. */
  auth: string
  /** Errors that the authentication throws. */
  errors: readonly ErrorName[]
  /** The OpenAPI security requirement. */
  security: OpenAPIV3.SecurityRequirementObject[]
  /** The route option that turns on the Elysia macro which authenticates. */
  macro(operation: Operation): Macro
  /** Errors of operations that accept an idempotency key. */
  idempotencyErrors?: readonly ErrorName[]
  /** Errors of operations that credits pay for. */
  paymentErrors?: readonly ErrorName[]
  /** The header parameter of operations that accept an idempotency key. */
  idempotencyHeader?: OpenAPIV3.ParameterObject
}

/** Remembers the schemas of each list of errors: they take long to create for every server. */
function memoize<ErrorName extends string>(
  create: (names: readonly ErrorName[]) => Record<number, TSchema>,
): (names: readonly ErrorName[]) => Record<number, TSchema> {
  const byNames = new Map<string, Record<number, TSchema>>()
  return (names) => {
    const key = names.join()
    const schemas = byNames.get(key) ?? create(names)
    byNames.set(key, schemas)
    return schemas
  }
}

/** Returns the function that turns a declaration into the options of an Elysia route. */
export const operationBuilder = <Tag extends string, ErrorName extends string, Macro>(
  createErrorSchemas: (names: readonly ErrorName[]) => Record<number, TSchema>,
  kind: OperationKind<ErrorName, Macro>,
) => {
  const errorSchemas = memoize(createErrorSchemas)
  return <const Responses extends Record<number, TSchema>>(
    declaration: OperationDeclaration<Tag, ErrorName & RateLimitName>,
    responses: Responses,
    errors: readonly ErrorName[] = [],
  ) => {
    const {
      id,
      tag,
      summary,
      description: more,
      requestBodies: takes,
      idempotent,
      limits = [],
    } = declaration
    const { auth, security, idempotencyErrors = [], idempotencyHeader } = kind
    const isPaid = errors.some((name) => isPaidBy.has(name))
    const allErrors = [
      ...kind.errors,
      ...(idempotent ? idempotencyErrors : []),
      ...limits,
      ...errors,
      ...(isPaid ? (kind.paymentErrors ?? []) : []),
    ]
    const operation: Operation = { ...declaration, auth, errors: allErrors }
    return {
      // The macro reads the body itself, so that a missing key fails before a bad body.
      parse: 'none' as const,
      response: { ...responses, ...withSuccesses(errorSchemas(allErrors), responses) },
      detail: {
        operationId: id,
        tags: [tag],
        summary,
        ...(more && { description: more }),
        ...(takes && { requestBody: { required: true, content: takes } }),
        ...(idempotent && idempotencyHeader && { parameters: [idempotencyHeader] }),
        security,
        operation,
      },
      ...kind.macro(operation),
    }
  }
}

/** Errors of calls that a payment makes succeed. */
const isPaidBy: ReadonlySet<string> = new Set(['not_enough_credits', 'payment_required'])

/** Adds the success of a status to its errors: 202 is a running job, and a pending payment. */
const withSuccesses = (errors: Record<number, TSchema>, successes: Record<number, TSchema>) =>
  Object.fromEntries(
    Object.entries(errors).map(([status, schema]) => {
      const success = successes[Number(status)]
      return [status, success ? Type.Union([success, schema]) : schema]
    }),
  )

export interface RoutedOperation extends Operation {
  method: string
  /** Path pattern inside the server: "/api/apps/:id". */
  path: string
}

/** An API as far as its description needs it. */
export type RoutedApi = Pick<AnyElysia, 'routes'>

/** Returns the declared operations of an API, in the order of its routes. */
export const operationsOf = ({ routes }: RoutedApi): RoutedOperation[] =>
  routes.flatMap(({ method, path, hooks }) => {
    const operation: Operation | undefined = hooks.detail?.operation
    return operation ? [{ ...operation, method, path }] : []
  })
