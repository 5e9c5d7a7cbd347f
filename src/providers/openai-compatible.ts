import { HttpClient } from './http-client.ts'
import { mayBeNonStreaming, toEventStream } from './non-streaming.ts'
import { buildRequestBody, type Dialect } from './request-body.ts'
import { readPrefix } from './response.ts'
import { classifyNetworkError } from './upstream-error.ts'
import { type Upstream, type UpstreamCall, UpstreamError } from './upstream.ts'

/** An upstream that speaks OpenAI's HTTP. */
export interface OpenAiUpstream extends Dialect {
  name: string
  /** Without a slash at its end. */
  baseUrl: string
  apiKey?: string
}

/** What is asked for, whether anything is sent with it or not. */
type Asked = Pick<UpstreamCall, 'signal'> & { path: string }

/** Of an answer that is no success this much is read; more says nothing. */
const refusalBytesMax = 65_536

/**
 * The raw lane: the body goes out as it came, but for what body.ts names; the answer's bytes come
 * back as they are, but for a whole one where a stream was asked for. Redirects are not followed
 * (the key would go along), and the key is cut out of what a refusing upstream says.
 */
export function createOpenAiAdapter(row: OpenAiUpstream): Upstream {
  const to = { ...row, line: new HttpClient() }
  return {
    name: to.name,
    kind: 'openai',
    async send(call) {
      const answer = await ask(to, call, buildRequestBody(call, to))
      return mayBeNonStreaming(answer, call) ? toEventStream(answer) : answer
    },
    poll: (at) => ask(to, at),
  }
}

async function ask(
  to: OpenAiUpstream & { line: HttpClient },
  at: Asked,
  body?: string | FormData,
): Promise<Response> {
  const { name, baseUrl, apiKey, line } = to
  const { path, signal } = at
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  if (apiKey) headers.authorization = `Bearer ${apiKey}`
  if (typeof body === 'string') headers['content-type'] = 'application/json'
  const method = body === undefined ? 'GET' : 'POST'
  const init = { method, headers, signal, ...(body && { body }) }
  const answer = await line.fetch(baseUrl + path, init).catch((error: unknown) => {
    throw new UpstreamError(classifyNetworkError(error, signal), name)
  })
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel()
    throw new UpstreamError('redirect', name)
  }
  return answer.ok ? answer : withoutKey(to, at, answer)
}

async function withoutKey(
  { name, apiKey }: OpenAiUpstream,
  { signal }: Asked,
  answer: Response,
): Promise<Response> {
  const said = await readPrefix(answer, refusalBytesMax).catch((error: unknown) => {
    throw new UpstreamError(classifyNetworkError(error, signal), name)
  })
  const text = apiKey ? said.replaceAll(apiKey, '[key]') : said
  const headers = new Headers(answer.headers)
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'set-cookie']) {
    headers.delete(name)
  }
  // No status of HTTP is another, and no response is made with one.
  const isKnown = answer.status >= 400 && answer.status < 600
  return new Response(text, { status: isKnown ? answer.status : 599, headers })
}
