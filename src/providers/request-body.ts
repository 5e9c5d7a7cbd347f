import { isRecord, type Json } from '../core/schema.ts'
import type { UpstreamCall } from './upstream.ts'

/** Differences of an upstream's HTTP API from OpenAI's current one. */
export interface Dialect {
  /** Its name for the output token limit; when undefined, the client's names are kept. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  /** It rejects `stream_options` and always sends the usage. */
  rejectsStreamOptions?: boolean
}

/** Builds the body for an upstream. Fields that this module does not name pass unchanged. */
export function buildRequestBody(call: UpstreamCall, dialect: Dialect): string | FormData {
  const { model, body } = call
  if (body instanceof FormData) return copyForm(body, model)
  const json = { ...body, ...outputLimit(call, dialect), model, ...streamOptions(body, dialect) }
  const text = JSON.stringify(json)
  return text.includes('"ttl":') ? JSON.stringify(withDefaultCacheTtl(json)) : text
}

/**
 * Removes `ttl` from cache marks: an hour in the cache costs more than the price covers. Schemas
 * and examples of the client keep their own fields of that name.
 */
const withDefaultCacheTtl = (body: Json): unknown =>
  withoutTtl({
    ...body,
    tools: mapRecords(body.tools, (tool) =>
      withoutTtl({ ...tool, function: withoutTtl(tool.function) }),
    ),
    messages: mapRecords(body.messages, (message) =>
      withoutTtl({ ...message, content: mapRecords(message.content, withoutTtl) }),
    ),
  })

const withoutTtl = (value: unknown): unknown =>
  isRecord(value) && isRecord(value.cache_control)
    ? { ...value, cache_control: { ...value.cache_control, ttl: undefined } }
    : value

const mapRecords = (list: unknown, change: (item: Json) => unknown): unknown =>
  Array.isArray(list) ? list.map((item: unknown) => (isRecord(item) ? change(item) : item)) : list

function copyForm(body: FormData, model: string): FormData {
  const form = new FormData()
  body.forEach((value, name) => {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  })
  form.set('model', model)
  return form
}

/** Requests the usage of every stream, because the charge depends on it. */
function streamOptions(body: Json, { rejectsStreamOptions }: Dialect) {
  if (rejectsStreamOptions) return { stream_options: undefined }
  if (body.stream !== true) return {}
  const options = typeof body.stream_options === 'object' ? body.stream_options : {}
  return { stream_options: { ...options, include_usage: true } }
}

/** Returns the lower output token limit of client and hold; undefined when there is none. */
export function outputTokenLimit({ body, outputTokensMax }: UpstreamCall): number | undefined {
  if (body instanceof FormData) return undefined
  const limits = [body.max_tokens, body.max_completion_tokens, outputTokensMax]
  const numbers = limits.filter((limit) => typeof limit === 'number')
  return numbers.length > 0 ? Math.min(...numbers) : undefined
}

/** Sets that limit under the name that the upstream knows. */
function outputLimit(call: UpstreamCall, { outputName }: Dialect) {
  const { path, body } = call
  const limit = outputTokenLimit(call)
  if (path !== '/chat/completions' || body instanceof FormData || limit === undefined) return {}
  if (outputName) {
    return { max_tokens: undefined, max_completion_tokens: undefined, [outputName]: limit }
  }
  if (typeof body.max_completion_tokens !== 'number') return { max_tokens: limit }
  return {
    ...(typeof body.max_tokens === 'number' && { max_tokens: limit }),
    max_completion_tokens: limit,
  }
}
