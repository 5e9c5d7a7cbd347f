import type { Config } from '../../kernel/config/settings.ts'
import type { Log } from '../../kernel/log.ts'
import { errorCodeOf } from '../../kernel/text.ts'
import type { Clock } from '../../kernel/time.ts'
import { type Certificate, Certificates } from './certificates.ts'
import { HttpChallenges, TlsChallenges } from './challenges.ts'

/** A server of Bun that listens for requests, or several of them on one port. */
export interface Listener {
  readonly port: number | undefined
  readonly pendingRequests: number
  /** Stops listening. Resolves when all sockets are closed, which `closeActive` does at once. */
  stop(closeActive?: boolean): Promise<void>
  /** The certificates of a server that serves HTTPS itself. */
  readonly certificates?: Certificates
}

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The certificates of a server that serves HTTPS itself. */
    certificates?: Certificates
  }
}

/** Listens for HTTPS on the port of the server, and for plain HTTP on HTTP_PORT. */
export class HttpsListener implements Listener {
  readonly certificates: Certificates
  private readonly plain: Bun.Server<undefined> | undefined
  /** The last one has the newest certificate. Those before it finish their requests. */
  private servers: Listener[] = []

  /** `listen` opens a server on the port, which may still be open in this process. */
  constructor(
    config: Config,
    clock: Clock,
    log: Log,
    private readonly listen: (certificate: Certificate) => Listener,
  ) {
    const hosts = config.httpsHosts.join(' and ')
    const advice = (from: number, to: number) =>
      `Check that ${hosts} lead to this machine, and that their port ${from} reaches its port ${to}.`
    const files = new HttpChallenges(advice(80, config.httpPort))
    this.plain = listenPlain(config, log, (request) => this.respond(config, files, request))
    const certificates = (this.certificates = new Certificates(
      config,
      clock,
      log,
      this.plain
        ? files
        : new TlsChallenges(
            advice(443, config.port),
            config.port,
            config.host,
            () => this.pause(),
            () => certificates.current && this.open(certificates.current),
          ),
      (certificate) => this.open(certificate),
    ))
  }

  get port(): number | undefined {
    return this.servers.at(-1)?.port
  }

  get pendingRequests(): number {
    return this.servers.reduce((sum, server) => sum + server.pendingRequests, 0)
  }

  async stop(closeActive = false): Promise<void> {
    this.certificates.stop()
    await Promise.all([this.plain, ...this.servers].map((server) => server?.stop(closeActive)))
  }

  /** Listens with a certificate. Sockets of the one before it stay open until they end. */
  private open(certificate: Certificate): void {
    const server = this.listen(certificate)
    this.pause()
    this.servers.push(server)
  }

  private pause(): void {
    for (const server of this.servers) {
      void server.stop().then(() => {
        this.servers = this.servers.filter((one) => one !== server)
      })
    }
  }

  /** Responds to plain HTTP: to a challenge, else with the https address (RFC 9110, 15.4.9). */
  private respond(config: Config, files: HttpChallenges, request: Request): Response {
    const { pathname, search, hostname } = new URL(request.url, 'http://localhost')
    const challenge = files.respond(pathname)
    if (challenge) return challenge
    const { current, problem } = this.certificates
    if (!current) {
      const text = problem ?? 'This server is getting its certificate. Try again in a minute.'
      return new Response(`${text}\n`, { status: 503, headers: { 'retry-after': '60' } })
    }
    const host = config.httpsHosts.find((one) => one === hostname) ?? config.httpsHosts[0]
    const port = config.port === 443 ? '' : `:${config.port}`
    return Response.redirect(`https://${host}${port}${pathname}${search}`, 308)
  }
}

/** Listens for plain HTTP. Returns undefined where its port is in use or not allowed. */
function listenPlain(config: Config, log: Log, fetch: (request: Request) => Response) {
  try {
    return Bun.serve({ hostname: config.host, port: config.httpPort, development: false, fetch })
  } catch (error) {
    log.warn('http.not_served', {
      why: `Port ${config.httpPort} cannot be opened (${errorCodeOf(error)}).`,
      consequence: 'Addresses with http:// do not lead to https://.',
    })
    return undefined
  }
}
