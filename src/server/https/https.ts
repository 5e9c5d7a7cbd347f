import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Config } from '../../kernel/config/settings.ts'
import type { Log } from '../../kernel/log.ts'
import { errorCodeOf, messageOf } from '../../kernel/text.ts'
import { type Clock, hour, iso, minute, second } from '../../kernel/time.ts'
import { isMissing, writeDurably } from '../../store/durable.ts'
import { type Challenges, HttpChallenges, TlsChallenges } from './challenges.ts'

/** A certificate with its chain and its private key, both PEM. */
export interface Certificate {
  cert: string
  key: string
  /** Start and end of its validity, in milliseconds since 1970. */
  from: number
  to: number
}

const orderMsMax = 3 * minute
const retryMsMin = 5 * minute
const retryMsMax = 6 * hour
/** A timer of more than 24 days would fire at once. */
const waitMsMax = hour

/**
 * The certificate of HTTPS_HOSTS, from the ACME server ACME_DIRECTORY (RFC 8555). It is stored in
 * `certificates/<host of the directory>` of the data folder with the key of the account, and
 * renewed when a third of its validity is left.
 */
class Certificates {
  current: Certificate | undefined
  /** Why the last order failed, and what to do; undefined when it succeeded. */
  problem: string | undefined
  private readonly folder: string
  private timer: Timer | undefined
  private retryMs = retryMsMin

  /** `use` gets each new certificate. */
  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly challenges: Challenges,
    private readonly use: (certificate: Certificate) => void,
  ) {
    const { host } = new URL(config.acmeDirectory)
    this.folder = join(config.dataDir, 'certificates', host.replace(':', '_'))
  }

  /** Reads the stored certificate, or orders one, and renews it until `stop`. */
  async start(): Promise<void> {
    this.current = await this.readStored()
    if (this.current) this.use(this.current)
    else await this.order()
    this.scheduleOrder()
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private scheduleOrder(): void {
    const { current, clock } = this
    const renewal = current ? current.to - (current.to - current.from) / 3 : 0
    const retry = this.problem === undefined ? 0 : clock.now() + this.retryMs
    const at = Math.max(renewal, retry)
    const wait = (): void => {
      const left = at - clock.now()
      const next = left > waitMsMax ? wait : () => this.order().then(() => this.scheduleOrder())
      this.timer = setTimeout(next, Math.min(waitMsMax, Math.max(second, left))).unref()
    }
    wait()
  }

  private async order(): Promise<void> {
    const { httpsHosts: hosts } = this.config
    try {
      const certificate = await this.requestCertificate()
      this.current = certificate
      this.problem = undefined
      this.retryMs = retryMsMin
      this.log.info('certificate.issued', { hosts, until: iso(certificate.to) })
      this.use(certificate)
    } catch (error) {
      this.problem = `${messageOf(error)} ${this.challenges.advice}`
      this.log.error('certificate.failed', error, { hosts, advice: this.challenges.advice })
      this.retryMs = Math.min(retryMsMax, this.retryMs * 2)
    }
  }

  private async requestCertificate(): Promise<Certificate> {
    const { Client, crypto } = (await import('acme-client')).default
    const { httpsHosts, acmeDirectory, acmeEmail } = this.config
    const [newKey, csr] = await crypto.createCsr(
      { altNames: httpsHosts },
      await crypto.createPrivateEcdsaKey(),
    )
    const client = new Client({
      directoryUrl: acmeDirectory,
      accountKey: await this.accountKey(() => crypto.createPrivateEcdsaKey()),
    })
    const contact = acmeEmail ? [`mailto:${acmeEmail}`] : []
    await client.createAccount({ termsOfServiceAgreed: true, contact })
    const order = client.auto({
      csr,
      // Many machines cannot reach themselves by their public name.
      skipChallengeVerification: true,
      challengePriority: [this.challenges.type],
      challengeCreateFn: (...challenge) => this.challenges.add(...challenge),
      challengeRemoveFn: (authorization, challenge) =>
        this.challenges.remove(authorization, challenge),
    })
    const late = Bun.sleep(orderMsMax).then(() => {
      throw new Error(`The ACME server took more than ${orderMsMax / minute} minutes.`)
    })
    const pem = `${String(newKey)}\n${await Promise.race([order, late])}`
    await writeDurably(join(this.folder, 'hosts.pem'), Buffer.from(pem), { mode: 0o600 })
    return parseCertificate(pem)
  }

  /** Returns the key of the account, which `create` makes once. */
  private async accountKey(create: () => Promise<Buffer>): Promise<Buffer> {
    const path = join(this.folder, 'account.pem')
    const stored = await readFile(path).catch(undefinedIfMissing)
    if (stored) return stored
    const key = await create()
    await mkdir(this.folder, { recursive: true, mode: 0o700 })
    await writeDurably(path, key, { mode: 0o600 })
    return key
  }

  /** Returns the stored certificate; undefined where it has ended, or lacks a host. */
  private async readStored(): Promise<Certificate | undefined> {
    const pem = await readFile(join(this.folder, 'hosts.pem'), 'utf8').catch(undefinedIfMissing)
    if (pem === undefined) return undefined
    const known = new X509Certificate(certificatesOf(pem))
    const hasHosts = this.config.httpsHosts.every((host) => known.checkHost(host) !== undefined)
    const stored = parseCertificate(pem)
    return hasHosts && this.clock.now() < stored.to ? stored : undefined
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
  return undefined
}

/** Returns the certificates of a PEM text, which follow the private key. */
const certificatesOf = (pem: string): string =>
  pem.slice(pem.indexOf('-----BEGIN CERTIFICATE-----'))

function parseCertificate(pem: string): Certificate {
  const cert = certificatesOf(pem)
  const { validFromDate, validToDate } = new X509Certificate(cert)
  const key = createPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' })
  return { cert, key: String(key), from: validFromDate.getTime(), to: validToDate.getTime() }
}

/** A server of Bun that listens for requests, or several of them on one port. */
export interface Listener {
  readonly port: number | undefined
  readonly pendingRequests: number
  /** Accepts the connections that waited for a server that is ready. */
  accept?(): void
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
