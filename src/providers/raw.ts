import { readAtMost } from './answer.ts'
import { bodyOf, type Dialect } from './body.ts'
import { Line } from './line.ts'
import { mayBeWhole, streamOf } from './unstreamed.ts'
import { faultKindOf } from './upstream-error.ts'
import { type Call, type Upstream, UpstreamFault } from './upstream.ts'

/** An upstream that speaks OpenAI's HTTP. */
export interface RawUpstream extends Dialect {
  name: string
  /** Without a slash at its end. */
  baseUrl: string
  apiKey?: string
}

/** What is asked for, whether anything is sent with it or not. */
type Asked = Pick<Call, 'signal'> & { path: string }

/** Of an answer that is no success this much is read; more says nothing. */
const refusalBytesMax = 65_536

/**
 * The raw lane: the body goes out as it came, but for what body.ts names; the answer's bytes come
 * back as they are, but for a whole one where a stream was asked for. Redirects are not followed
 * (the key would go along), and the key is cut out of what a refusing upstream says.
 */
export function rawLane(row: RawUpstream): Upstream {
  const to = { ...row, line: new Line() }
  return {
    name: to.name,
    kind: 'openai',
    async send(call) {
      const answer = await ask(to, call, bodyOf(call, to))
      return mayBeWhole(answer, call) ? streamOf(answer) : answer
    },
    look: (at) => ask(to, at),
  }
}

async function ask(
  to: RawUpstream & { line: Line },
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
    throw new UpstreamFault(faultKindOf(error, signal), name)
  })
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel()
    throw new UpstreamFault('redirect', name)
  }
  return answer.ok ? answer : withoutKey(to, at, answer)
}

async function withoutKey(
  { name, apiKey }: RawUpstream,
  { signal }: Asked,
  answer: Response,
): Promise<Response> {
  const said = await readAtMost(answer, refusalBytesMax).catch((error: unknown) => {
    throw new UpstreamFault(faultKindOf(error, signal), name)
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
