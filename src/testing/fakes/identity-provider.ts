/** Deviations of the provider from the standard, for one sign-in. */
export interface OddToken {
  issuer?: string
  audience?: string
  nonce?: string
  /** Sign with a key that the provider does not publish. */
  forged?: boolean
  /** Seconds until the token expires. Negative: already expired. */
  seconds?: number
  /** Error of the token endpoint. */
  error?: string
}

/** Claims of the person who signs in. */
export interface Claims {
  sub: string
  preferred_username?: string
  groups?: string[]
  email?: string
}

interface Grant {
  claims: Claims
  odd: OddToken
  query: URLSearchParams
}

const client = { id: 'berth', secret: 's3cret & more' }

const base64 = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url')

const newKeys = () =>
  crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])

async function signed(key: CryptoKey, claims: object): Promise<string> {
  const parts = [{ alg: 'ES256', kid: 'one' }, claims].map((part) => base64(JSON.stringify(part)))
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const made = await crypto.subtle.sign(algorithm, key, Buffer.from(parts.join('.')))
  return [...parts, base64(new Uint8Array(made))].join('.')
}

const no = (error: string): Response => Response.json({ error }, { status: 400 })

/** Checks basic authentication with form-encoded parts (RFC 6749, section 2.3.1). */
function isClient({ headers }: Request): boolean {
  const pair = [client.id, client.secret].map((text) => encodeURIComponent(text))
  return headers.get('authorization') === `Basic ${btoa(pair.join(':').replaceAll('%20', '+'))}`
}

/** An OpenID Connect provider on this machine that signs real tokens. */
export class IdentityProvider {
  private readonly keys = newKeys()
  private readonly others = newKeys()
  private readonly grants = new Map<string, Grant>()
  private isDown = false
  private readonly server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => this.respond(request),
  })
  private readonly issuer = `http://127.0.0.1:${this.server.port}/realms/berth/`

  /** The person who signs in when a browser opens the authorization page. */
  user: Claims = { sub: 'u-1', preferred_username: 'Ann.Sailor' }

  readonly requestedPaths: string[] = []

  /** Settings that connect a server to this provider. */
  readonly settings = {
    OIDC_ISSUER: this.issuer,
    OIDC_CLIENT_ID: client.id,
    OIDC_CLIENT_SECRET: client.secret,
    OIDC_NAME: 'Harbour ID',
  }

  /** With `userInfo`, only the user info endpoint has names, not the tokens. */
  constructor(private readonly options: { userInfo?: boolean } = {}) {}

  /** Signs in and returns the path that the browser is redirected to. */
  approve(location: string | null, claims: Claims, odd: OddToken = {}): string {
    const { searchParams } = new URL(location ?? '')
    const code = crypto.randomUUID()
    this.grants.set(code, { claims, odd, query: searchParams })
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', searchParams.get('state') ?? '')
    return back.pathname + back.search
  }

  /** Makes the provider unavailable, or available again. */
  turn(state: 'off' | 'on'): void {
    this.isDown = state === 'off'
  }

  close(): Promise<void> {
    return this.server.stop(true)
  }

  private async respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    this.requestedPaths.push(pathname)
    const name = pathname.replace('/realms/berth/', '')
    if (this.isDown) return new Response('down', { status: 503 })
    if (name === 'token') return this.token(request)
    if (name === '.well-known/openid-configuration') return this.description()
    if (name === 'authorize') {
      const path = this.approve(request.url, this.user)
      return Response.redirect(new URL(path, searchParams.get('redirect_uri') ?? '').href, 303)
    }
    if (name === 'me') {
      const sub = request.headers.get('authorization')?.replace('Bearer ', '')
      return Response.json({ sub, preferred_username: `${sub}.told` })
    }
    const key = await crypto.subtle.exportKey('jwk', (await this.keys).publicKey)
    return Response.json({ keys: [{ ...key, kid: 'one', alg: 'ES256', use: 'sig' }] })
  }

  private description(): Response {
    const { issuer } = this
    return Response.json({
      issuer,
      authorization_endpoint: `${issuer}authorize`,
      token_endpoint: `${issuer}token`,
      jwks_uri: `${issuer}jwks`,
      response_types_supported: ['code'],
      ...(this.options.userInfo && { userinfo_endpoint: `${issuer}me` }),
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
  }

  private async token(request: Request): Promise<Response> {
    const sent = new URLSearchParams(await request.text())
    if (!isClient(request)) return no('invalid_client')
    const code = sent.get('code') ?? ''
    const grant = this.grants.get(code)
    this.grants.delete(code)
    if (!grant) return no('invalid_grant')
    const { claims, odd, query } = grant
    const verifier = new Bun.CryptoHasher('sha256').update(sent.get('code_verifier') ?? '')
    if (verifier.digest('base64url') !== query.get('code_challenge')) return no('no_pkce')
    if (sent.get('redirect_uri') !== query.get('redirect_uri')) return no('no_redirect')
    if (odd.error) return no(odd.error)
    const now = Math.floor(Date.now() / 1_000)
    const claimSet = {
      ...(this.options.userInfo ? { sub: claims.sub } : claims),
      iss: odd.issuer ?? this.issuer,
      aud: odd.audience ?? client.id,
      iat: now,
      exp: now + (odd.seconds ?? 300),
      nonce: odd.nonce ?? query.get('nonce'),
    }
    const { privateKey } = await (odd.forged ? this.others : this.keys)
    const token = await signed(privateKey, claimSet)
    return Response.json({ access_token: claims.sub, token_type: 'Bearer', id_token: token })
  }
}
