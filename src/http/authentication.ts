import { type TSchema, Type, TypeGuard } from '@sinclair/typebox'

import type { AppContext } from '../context.ts'
import { rejectRequest } from '../errors.ts'
import { emptyProblem } from './body-kind.ts'
import { readJsonBody } from './body.ts'
import type { Operation } from './operation.ts'
import { checkPath } from './path.ts'
import { createValidator } from './validation.ts'

/** The fields of Elysia's context that the hook reads and writes. */
interface HookContext {
  request: Request
  params: Record<string, unknown>
  body: unknown
}

interface Authentication {
  /** Throws unless the caller may use the operation. */
  authenticate(request: Request): unknown
  /** Default: `jsonBodyBytesMax`. */
  bodyBytesMax?: number
}

const noFields = Type.Optional(Type.Object({}, { additionalProperties: false }))
const storesByDefault = new Set(['POST', 'PUT'])

/**
 * Returns the hooks that run before the handler of an operation, in this order: disk, caller, body,
 * path, fields. Elysia itself parses a body before any other hook, but a missing key must fail
 * first. Its validation accepts any value where a body is optional, and repeats what was sent.
 */
export function operationHooks(
  ctx: AppContext,
  { id, input = 'json', onFullDisk, requestBodies }: Operation,
  { authenticate, bodyBytesMax }: Authentication,
) {
  const jsonLimits = bodyBytesMax === undefined ? {} : { max: bodyBytesMax }
  let schema: TSchema | undefined = input === 'empty' ? noFields : undefined
  let validate: ((body: unknown) => void) | undefined
  return {
    // Elysia identifies a macro by its seed. The default is the operation as JSON, which is slow.
    seed: id,
    introspect(route: { body?: unknown }): void {
      if (TypeGuard.IsSchema(route.body)) schema = route.body
    },
    // Elysia reads the source of hooks: given the whole context, it would parse query and cookies.
    transform: async (context: HookContext): Promise<void> => {
      const { method } = context.request
      if (onFullDisk !== 'allow' && storesByDefault.has(method)) ctx.storage.requireFreeSpace(0)
      await authenticate(context.request)
      const readsBody = input !== 'handler' && method !== 'GET' && method !== 'HEAD'
      if (readsBody) context.body = await readJsonBody(context.request, jsonLimits)
      checkPath(context.params)
      // A declared body is required; `body` of a route may be optional.
      if (readsBody && requestBodies && context.body === undefined) rejectRequest(emptyProblem)
      if (!readsBody || !schema) return
      if (context.body === undefined && TypeGuard.IsOptional(schema)) return
      validate ??= createValidator(schema)
      validate(context.body)
    },
  }
}
