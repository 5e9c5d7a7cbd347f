import { type TObject, type TSchema, Type, TypeGuard } from '@sinclair/typebox'

import type { AppContext } from '../kernel/context.ts'
import { ApiError, rejectRequest } from '../kernel/errors.ts'
import { emptyProblem, readJsonBody } from '../kernel/http/body.ts'
import type { IncomingCall, Operation } from '../kernel/http/operation.ts'
import { checkPath } from '../kernel/http/path.ts'
import { createValidator } from '../kernel/http/validation.ts'
import { lazyFor } from '../kernel/lazy.ts'
import { jsonBodyBytesMax } from '../kernel/limits.ts'
import { isRecord, strictObject } from '../kernel/schema.ts'
import { idempotencyKeyOf } from './idempotency/idempotency.ts'
import { readPaidCall, withPayment } from './payment.ts'

const storesByDefault = new Set(['POST', 'PUT'])
const noFields = Type.Optional(strictObject({}))

/**
 * Performs a call of an operation, whichever transport it came by, in this order: payment, disk,
 * caller, body, path, fields, work. A missing key fails before a bad body. Returns what `run`
 * returns. Throws the errors that the operation declares, or `OfferedError`.
 */
export async function perform(
  ctx: AppContext,
  operation: Operation,
  given: IncomingCall,
): Promise<unknown> {
  const { method, access, input, onFullDisk } = operation
  const paid = readPaidCall(ctx, given)
  const { incoming } = paid
  const { headers, signal, context } = incoming
  if (onFullDisk !== 'allow' && storesByDefault.has(method)) ctx.storage.requireFreeSpace(0)
  const caller = incoming.caller ?? (await access.identify(ctx, incoming, operation))
  const { bodyBytesMax: max = jsonBodyBytesMax } = access
  const readsJson = method !== 'GET' && !input.read
  const sent = readsJson ? await readJson(incoming, { max }) : undefined
  checkPath(incoming.params)
  if (readsJson) checkBody(operation, sent)
  const params = checkFields(input.params, incoming.params)
  const query = checkFields(input.query, incoming.query)
  const body = input.read ? await input.read(incoming, ctx) : sent
  const ref = idempotencyKeyOf(incoming, refOf(body))
  const call = {
    caller,
    params,
    query,
    body,
    ref,
    client: context.client,
    headers,
    signal,
    context,
  }
  const payer = incoming.caller === undefined ? access.payerOf?.(caller) : undefined
  return withPayment(ctx, paid, payer, async () => operation.run(ctx, call))
}

/** Reads the JSON body of a call, unless it is parsed. Throws what `readJsonBody` throws. */
export async function readJson(
  { source }: IncomingCall,
  limits: { max?: number; takesZip?: boolean } = {},
): Promise<unknown> {
  if ('request' in source) return readJsonBody(source.request, limits)
  const { max = jsonBodyBytesMax } = limits
  const bytes = source.value === undefined ? 0 : Buffer.byteLength(JSON.stringify(source.value))
  if (bytes > max) throw new ApiError('too_large', { bytes, max })
  return source.value
}

const refOf = (body: unknown): string | undefined =>
  isRecord(body) && typeof body['ref'] === 'string' ? body['ref'] : undefined

// A schema is compiled with its first call.
const validatorOf = lazyFor(createValidator)
const fieldsValidatorOf = lazyFor((schema: TObject) =>
  createValidator({ ...schema, additionalProperties: schema.additionalProperties ?? false }),
)

function checkBody({ input: { body: declared, bodies } }: Operation, body: unknown): void {
  if (bodies && body === undefined) rejectRequest(emptyProblem)
  const schema = declared === 'none' ? noFields : declared
  if (!schema || (body === undefined && TypeGuard.IsOptional(schema))) return
  validatorOf(schema)(body)
}

/** Checks the fields of a path or a query. Their numbers arrive as texts. Throws `bad_request`. */
function checkFields(schema: TObject | undefined, sent: Record<string, unknown>): unknown {
  if (!schema) return sent
  const fields = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, fieldOf(schema.properties[name], value)]),
  )
  fieldsValidatorOf(schema)(fields)
  return fields
}

const decimal = /^-?\d{1,15}(?:\.\d{1,15})?$/

const isNumber = ({ anyOf }: TSchema): boolean =>
  Array.isArray(anyOf) && anyOf.some(({ format }) => format === 'numeric' || format === 'integer')

function fieldOf(schema: TSchema | undefined, value: unknown): unknown {
  if (!schema || !isNumber(schema) || typeof value !== 'string') return value
  return decimal.test(value) ? Number(value) : { text: value }
}
