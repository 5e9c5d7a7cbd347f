import { createSecureContext, createServer, type SecureContext, type Server } from 'node:tls'

import type { Authorization } from 'acme-client'
import type { Challenge } from 'acme-client/types/rfc8555'

/** A way in which an ACME server checks that a host leads to this machine. */
export interface Challenges {
  type: 'http-01' | 'tls-alpn-01'
  /** Advice to the operator when it fails. */
  advice: string
  add(authorization: Authorization, challenge: Challenge, keyAuthorization: string): Promise<void>
  remove(authorization: Authorization, challenge: Challenge): Promise<void>
}

/** Challenges that are files of plain HTTP (RFC 8555, 8.3). */
export class HttpChallenges implements Challenges {
  readonly type = 'http-01'
  private readonly files = new Map<string, string>()

  constructor(readonly advice: string) {}

  async add(_: Authorization, { token }: Challenge, keyAuthorization: string): Promise<void> {
    this.files.set(token, keyAuthorization)
  }

  async remove(_: Authorization, { token }: Challenge): Promise<void> {
    this.files.delete(token)
  }

  /** Returns the response for a path; undefined where it is of no challenge. */
  respond(path: string): Response | undefined {
    const [, token] = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(path) ?? []
    if (token === undefined) return undefined
    const file = this.files.get(token)
    return new Response(file ?? 'There is no such challenge.', { status: file ? 200 : 404 })
  }
}

/**
 * Challenges that are certificates on the port of HTTPS (RFC 8737), for machines whose port 80 is
 * taken. HTTPS pauses while there are any.
 */
export class TlsChallenges implements Challenges {
  readonly type = 'tls-alpn-01'
  private readonly contexts = new Map<string, SecureContext>()
  private server: Server | undefined

  /** `pause` stops listening for HTTPS, and `resume` begins again. */
  constructor(
    readonly advice: string,
    private readonly port: number,
    private readonly host: string,
    private readonly pause: () => void,
    private readonly resume: () => void,
  ) {}

  async add(authorization: Authorization, _: Challenge, keyAuthorization: string): Promise<void> {
    const { crypto } = (await import('acme-client')).default
    const [key, cert] = await crypto.createAlpnCertificate(authorization, keyAuthorization)
    this.contexts.set(authorization.identifier.value, createSecureContext({ key, cert }))
    this.server ??= this.listen()
    const { server } = this
    if (!server.listening) await new Promise((done) => server.once('listening', done))
  }

  async remove({ identifier }: Authorization): Promise<void> {
    this.contexts.delete(identifier.value)
    if (this.contexts.size > 0) return
    this.server?.close()
    this.server = undefined
    this.resume()
  }

  private listen(): Server {
    this.pause()
    const server = createServer({
      ALPNProtocols: ['acme-tls/1'],
      SNICallback: (name, done) => done(null, this.contexts.get(name)),
    })
    server.on('secureConnection', (socket) => socket.end())
    server.on('tlsClientError', (_, socket) => socket.destroy())
    return server.listen(this.port, this.host)
  }
}
