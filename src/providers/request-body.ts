import { isRecord } from '../core/schema.ts'
import type { UpstreamCall } from './upstream.ts'

type Json = Record<string, unknown>

/** How an upstream's HTTP differs from OpenAI's of today. */
export interface Dialect {
  /** What it calls the most output tokens; left out, both names go out as they came. */
  outputName?: 'max_completion_tokens' | 'max_tokens'
  /** It refuses `stream_options`, and sends the usage unasked. */
  refusesStreamOptions?: boolean
}

/** The body as this upstream is sent it; all that is not named here goes out as it came. */
export function buildRequestBody(call: UpstreamCall, dialect: Dialect): string | FormData {
  const { model, body } = call
  if (body instanceof FormData) return formOf(body, model)
  const sent = { ...body, ...outputOf(call, dialect), model, ...streamOf(body, dialect) }
  const text = JSON.stringify(sent)
  return text.includes('"ttl":') ? JSON.stringify(cachedForMinutes(sent)) : text
}

/**
 * To keep a prompt in a cache for an hour costs more than its price, which is that of minutes. What
 * a schema or an example calls so is the client's own.
 */
const cachedForMinutes = (body: Json): unknown =>
  withoutTtl({
    ...body,
    tools: eachOf(body.tools, (tool) =>
      withoutTtl({ ...tool, function: withoutTtl(tool.function) }),
    ),
    messages: eachOf(body.messages, (message) =>
      withoutTtl({ ...message, content: eachOf(message.content, withoutTtl) }),
    ),
  })

const withoutTtl = (held: unknown): unknown =>
  isRecord(held) && isRecord(held.cache_control)
    ? { ...held, cache_control: { ...held.cache_control, ttl: undefined } }
    : held

const eachOf = (list: unknown, change: (one: Json) => unknown): unknown =>
  Array.isArray(list) ? list.map((one: unknown) => (isRecord(one) ? change(one) : one)) : list

function formOf(body: FormData, model: string): FormData {
  const form = new FormData()
  body.forEach((value, name) => {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, value.name)
  })
  form.set('model', model)
  return form
}

/** A stream is always asked for its usage: the bill stands on it. */
function streamOf(body: Record<string, unknown>, { refusesStreamOptions }: Dialect) {
  if (refusesStreamOptions) return { stream_options: undefined }
  if (body.stream !== true) return {}
  const { stream_options: options } = body
  const asked = typeof options === 'object' ? options : {}
  return { stream_options: { ...asked, include_usage: true } }
}

/** The most output tokens that the client and the hold allow: undefined where neither says. */
export function outputTokenLimit({ body, outputTokensMax }: UpstreamCall): number | undefined {
  if (body instanceof FormData) return undefined
  const said = [body.max_tokens, body.max_completion_tokens, outputTokensMax]
  const numbers = said.filter((most) => typeof most === 'number')
  return numbers.length > 0 ? Math.min(...numbers) : undefined
}

/** That number in the name the upstream knows. */
function outputOf(call: UpstreamCall, { outputName }: Dialect) {
  const { path, body } = call
  const least = outputTokenLimit(call)
  if (path !== '/chat/completions' || body instanceof FormData || least === undefined) return {}
  if (outputName) {
    return { max_tokens: undefined, max_completion_tokens: undefined, [outputName]: least }
  }
  const { max_tokens: one, max_completion_tokens: other } = body
  if (typeof other !== 'number') return { max_tokens: least }
  return typeof one === 'number'
    ? { max_tokens: least, max_completion_tokens: least }
    : { max_completion_tokens: least }
}
