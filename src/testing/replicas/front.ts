import { hiddenFields } from '../fixtures/form-browser.ts'

/** A request to the address of all servers. */
export interface FrontRequest {
  method: string
  path: string
  key?: string | undefined
  /** The Idempotency-Key. */
  ref?: string | undefined
  body?: unknown
  headers?: Record<string, string>
}

/** The address of all servers: their balancer, which sends each request to the next one. */
export class Front {
  constructor(readonly origin: string) {}

  send(
    { method, path, key, ref, body, headers }: FrontRequest,
    signal?: AbortSignal,
  ): Promise<Response> {
    const isRaw = body instanceof FormData || body instanceof URLSearchParams
    return fetch(this.origin + path, {
      method,
      redirect: 'manual',
      ...(signal && { signal }),
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(ref !== undefined && { 'idempotency-key': ref }),
        ...(!isRaw && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    })
  }

  /** Sends a request and returns its body, parsed if it is JSON. Throws for an error. */
  async ok(request: FrontRequest): Promise<unknown> {
    const response = await this.send(request)
    const text = await response.text()
    if (response.status >= 300) throw new Error(`${response.status} ${text}`)
    return text.startsWith('{') ? JSON.parse(text) : text
  }

  /** Signs up a person through the form, and returns the session's cookies. */
  async signUp(name: string, password: string): Promise<string> {
    const page = await this.send({ method: 'GET', path: '/sign-up' })
    const cookie = cookiesOf(page)
    const token = tokenIn(await page.text(), '/sign-up')
    const body = new URLSearchParams({ token, name, password })
    const result = await this.submit('/sign-up', body, cookie)
    const signedIn = cookiesOf(result)
    if (!signedIn) throw new Error(`Sign-up is ${result.status}: ${await result.text()}`)
    return [cookie, signedIn].join('; ')
  }

  /** Returns the body of the form of a page for a signed-in person. */
  async openForm(path: string, cookie: string): Promise<URLSearchParams> {
    const page = await this.send({ method: 'GET', path, headers: { cookie } })
    return new URLSearchParams({ token: tokenIn(await page.text(), path) })
  }

  submit(path: string, body: URLSearchParams, cookie: string): Promise<Response> {
    const headers = { origin: 'http://replicas.test', cookie }
    return this.send({ method: 'POST', path, body, headers })
  }
}

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')

function tokenIn(page: string, action: string): string {
  const { token } = hiddenFields(page, action)
  if (token === undefined) throw new Error(`There is no form for ${action}: ${page.slice(0, 500)}`)
  return token
}
