import { isRecord, type Json, pickFields } from '../core/schema.ts'
import { type RequestFields, requestFieldsOf } from './request-fields.ts'
import type { UpstreamCall } from './upstream.ts'

/** Differences of an upstream's HTTP API from OpenAI's current one. */
export interface Dialect {
  /** Its name for the output token limit; when undefined, the client's names are kept. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  /** It rejects `stream_options` and always sends the usage. */
  rejectsStreamOptions?: boolean
  /** The fields that it receives; by default those of an unknown upstream. */
  requestFields?: RequestFields
}

const unknownUpstream = requestFieldsOf('')

/**
 * Builds the body for an upstream. Fields of request-fields.ts pass unchanged, others are left out,
 * because they may cost more than the hold.
 */
export function buildRequestBody(call: UpstreamCall, dialect: Dialect): string | FormData {
  const { model, body, path } = call
  const fields = (dialect.requestFields ?? unknownUpstream)[path]
  if (body instanceof FormData) return copyForm(body, model, fields)
  const sent = joinEffort(pickFields(body, fields))
  const json = {
    ...sent,
    ...outputLimit(call, dialect),
    model,
    ...streamOptions(path, sent, dialect),
  }
  const text = JSON.stringify(json)
  return text.includes('"ttl":') ? JSON.stringify(withDefaultCacheTtl(json)) : text
}

/** Moves the effort into `reasoning`, because OpenRouter rejects two of them. */
function joinEffort({ reasoning_effort: effort, ...body }: Json): Json {
  if (effort === undefined) return body
  if (!isRecord(body.reasoning)) return { ...body, reasoning_effort: effort }
  return { ...body, reasoning: { effort, ...body.reasoning } }
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

function copyForm(body: FormData, model: string, fields: ReadonlySet<string>): FormData {
  const form = new FormData()
  body.forEach((value, name) => {
    // OpenAI's clients write lists as name[].
    if (!fields.has(name.replace(/\[\]$/, ''))) return
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  })
  form.set('model', model)
  return form
}

/** Requests the usage of every stream, because the charge depends on it. */
function streamOptions(path: string, body: Json, { rejectsStreamOptions }: Dialect) {
  if (path !== '/chat/completions') return {}
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
