import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { upstreamRequestsMax } from '../limits.ts'
import type { Json } from '../schema.ts'
import { messageOf } from '../text.ts'
import { clientVariables } from './client.ts'
import { providers } from './providers.ts'
import { camelCase, toText } from './setting-types.ts'
import { type Config, type SettingName, SettingsSchema, type Source } from './settings.ts'
import { readModels, readUpstreams } from './tables.ts'
import { checkTogether, readValue, shownText } from './values.ts'

/** Every invalid setting, one message each. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
  }
}

const { properties } = SettingsSchema
const names = Object.keys(properties).filter((name): name is SettingName =>
  Object.hasOwn(properties, name),
)

/** Variables that begin with BERTH_ and are no settings. */
const otherVariables = new Set(['BERTH_CONFIG', ...clientVariables])

/** Settings that are needed before berth.toml can be found. */
export const environmentOnly = new Set<SettingName>(['DATA_DIR', 'DATABASE_URL'])

/**
 * Reads all settings from flags, the environment and berth.toml (BERTH_CONFIG, else in the working
 * folder or the data folder), in this order of precedence. `needsKeys`: the API keys of upstreams
 * must be set; commands that call no upstream pass false. Throws ConfigError with every problem.
 * Another variable that begins with BERTH_ is a warning, unless Kubernetes sets it.
 */
export function loadConfig(
  flags: Record<string, string> = {},
  environment: Environment = Bun.env,
  needsKeys = true,
): Config {
  const problems: string[] = []
  const warnings: string[] = []
  const path = findToml(flags, environment, problems)
  const { file, tables } = readToml(path, environment.BERTH_CONFIG !== undefined, problems)
  for (const [key, text] of Object.entries(environment)) {
    const isUnknown = key.startsWith('BERTH_') && !otherVariables.has(key)
    if (isUnknown && !isServiceVariable(key, text)) {
      warnings.push(unknownSetting(key, key.slice('BERTH_'.length), names))
    }
  }
  const values: Json = { warnings }
  const hosts = findText('HTTPS_HOSTS', flags, environment, file)?.[0] ?? ''
  const port = findText('PORT', flags, environment, file)?.[0]
  const initials = defaultsOfHttps(hosts.split(','), port)
  values.rows = names.map((name) => {
    const schema = properties[name]
    const initial = initials[name] ?? toText(schema.default)
    const [text, source] = findText(name, flags, environment, file) ?? [initial, 'default']
    if (source === 'environment' && (file[name] ?? text) !== text) {
      warnings.push(`${name} differs in the environment and in ${path}. The environment wins.`)
    }
    const { value, problem } = readValue(name, text, source)
    if (problem === undefined) values[camelCase(name)] = value
    else problems.push(problem)
    return { name, value: shownText(name, text), source, description: schema.description ?? '' }
  })
  const report = (problem: string): void => void problems.push(problem)
  const upstreams = readUpstreams(tables.upstream, environment, report, needsKeys)
  const keyed = Object.entries(providers).flatMap(([name, { key }]) =>
    values[key] || !needsKeys ? [name] : [],
  )
  const models = readModels(tables.model, [...upstreams.map(({ name }) => name), ...keyed], report)
  Object.assign(values, { upstreams, models })
  checkTogether(values, problems, warnings)
  if (problems.length > 0 || !isConfig(values)) throw new ConfigError(problems)
  return values
}

/** Returns the defaults of a server that serves its hosts over HTTPS, on `port` or 443. */
function defaultsOfHttps(
  [site = '', apps = '']: string[],
  port = '443',
): Partial<Record<SettingName, string>> {
  if (site === '') return {}
  const originOf = (host: string) => `https://${host.trim()}${port === '443' ? '' : `:${port}`}`
  return {
    HOST: '::',
    PORT: port,
    APP_URL: originOf(site),
    ...(apps && { APPS_URL: originOf(apps) }),
  }
}

/** Returns the path of berth.toml, also where no file is there. */
function findToml(flags: Record<string, string>, environment: Environment, problems: string[]) {
  if (environment.BERTH_CONFIG !== undefined) return environment.BERTH_CONFIG
  const dataDir = flags.DATA_DIR ?? environment.DATA_DIR ?? toText(properties.DATA_DIR.default)
  const places = new Set([resolve('berth.toml'), resolve(dataDir, 'berth.toml')])
  const [first = 'berth.toml', second] = [...places].filter(existsSync)
  if (second) problems.push(`Both ${first} and ${second} exist. Keep one.`)
  return first
}

interface Toml {
  /** Values of settings as text. */
  file: Record<string, string>
  tables: { upstream?: unknown; model?: unknown }
}

function readToml(path: string, isRequired: boolean, problems: string[]): Toml {
  const toml: Toml = { file: {}, tables: {} }
  if (!existsSync(path)) {
    if (isRequired) problems.push(`BERTH_CONFIG names ${path}, which does not exist.`)
    return toml
  }
  let parsed: object = {}
  try {
    parsed = Bun.TOML.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    problems.push(`${path} is not valid TOML: ${messageOf(error)}`)
  }
  for (const [key, value] of Object.entries(parsed)) {
    const name = names.find((known) => known === key.toUpperCase())
    if (key === 'upstream' || key === 'model') toml.tables[key] = value
    else if (!name) problems.push(unknownSetting(`${path}: "${key}"`, key.toUpperCase(), names))
    else if (environmentOnly.has(name)) {
      problems.push(`${path}: set ${name} in the environment instead.`)
    } else toml.file[name] = toText(value)
  }
  return toml
}

function findText(
  name: SettingName,
  flags: Record<string, string>,
  environment: Environment,
  file: Record<string, string>,
): [string, Source] | undefined {
  const sources = { flag: flags, environment, 'berth.toml': file } as const
  for (const source of ['flag', 'environment', 'berth.toml'] as const) {
    const text = sources[source][name]
    if (text === undefined) continue
    const isForeign = source === 'environment' && isServiceVariable(name, text)
    if (!isForeign) return [text, source]
  }
  return undefined
}

/** A record in which every setting passed its schema is a Config. */
const isConfig = (values: object): values is Config =>
  names.every((name) => Object.hasOwn(values, camelCase(name))) &&
  'upstreams' in values &&
  'models' in values

const maxRequestsVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * Settings of Bun for a process that serves many short requests (docs/decisions/0139): the last
 * optimization is for hot loops only, and freed memory stays for the next request.
 */
const requestSettings = {
  BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '1000000',
  MIMALLOC_PURGE_DELAY: '-1',
}

/**
 * Returns the environment for a process that has upstreams; undefined where the present one will
 * do. Bun reads its limit on simultaneous outbound requests, 256 by default, before the program
 * runs, so the program has to start again with a higher one. An operator may set each variable.
 */
export function environmentForUpstreams(config: Config): typeof Bun.env | undefined {
  const hasKey = Object.values(providers).some(({ key }) => config[key] !== '')
  if (Bun.env[maxRequestsVariable] || (config.upstreams.length === 0 && !hasKey)) return undefined
  const limit = { [maxRequestsVariable]: String(upstreamRequestsMax) }
  return { ...requestSettings, ...Bun.env, ...limit }
}

/** DATABASE_URL, which selects the engine of the tables when their modules load. */
export const databaseUrl = (): string => Bun.env.DATABASE_URL ?? ''

/** The service manager that started this process: systemd with Type=notify. */
export interface ServiceManager {
  socket: string
  /** The server must say that it responds within this time; 0 without a watchdog. */
  watchdogMs: number
}

export function serviceManager(): ServiceManager | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog = '0' } = Bun.env
  return socket ? { socket, watchdogMs: Number(watchdog) / 1_000 || 0 } : undefined
}

/** Returns whether systemd passed a socket to this process: sd_listen_fds(3). */
export const isSocketPassed = (): boolean =>
  Bun.env.LISTEN_PID === String(process.pid) && Number(Bun.env.LISTEN_FDS) > 0

/** The environment of a process. */
type Environment = Record<string, string | undefined>

const serviceName = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const portName = /(^|_)PORT$/
const serviceAddress = /^(tcp|udp|sctp):\/\//

/**
 * Returns whether Kubernetes sets a variable for a Service, such as `BERTH_SERVICE_HOST` and
 * `BERTH_PORT=tcp://10.0.0.1:3000` for one named `berth`. Docker links have the same format.
 */
export const isServiceVariable = (name: string, value: string | undefined): boolean =>
  serviceName.test(name) || (portName.test(name) && serviceAddress.test(value ?? ''))

/** Returns the message for a name that is no setting, with the nearest of the known names. */
function unknownSetting(shown: string, name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((other) => ({ other, edits: countEdits(name, other) }))
    .filter(({ other, edits }) => edits <= Math.max(2, Math.floor(other.length / 3)))
    .toSorted((a, b) => a.edits - b.edits)
  const advice = nearest ? `Did you mean ${nearest.other}?` : 'See: berth config'
  return `${shown} is not a setting of Berth. ${advice}`
}

/** Counts the characters to insert, delete or replace between two texts (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [line, char] of [...from].entries()) {
    const next = [line + 1]
    for (const [at, other] of [...to].entries()) {
      const [replaced = 0, deleted = 0, inserted = 0] = [row[at], row[at + 1], next[at]]
      next.push(Math.min(replaced + (char === other ? 0 : 1), deleted + 1, inserted + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** The public URLs of the server, without a slash at the end. */
export interface Urls {
  base: string
  gateway: string
  app: string
  mcp: string
  /** The origin of the sandbox frame: `app`, or a host of its own. */
  apps: string
}

/** Returns the public URLs. `origin` is the address of this process, for URLs that are not set. */
export function urlsOf(config: Config, origin: string): Urls {
  const app = config.appUrl || origin
  return {
    base: config.baseUrl || `${app}/api`,
    gateway: config.gatewayUrl || app,
    app,
    mcp: config.mcpUrl || `${app}/mcp`,
    apps: config.appsUrl || app,
  }
}

/** Returns the origin of a host, which may be an IPv6 address, and a port. */
export const originAt = (host: string, port: number, scheme: 'http' | 'https' = 'http'): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Returns the address at which this machine reaches the server of the settings. */
export const localOrigin = ({ host, port, httpsHosts }: Config): string =>
  originAt(host === '0.0.0.0' ? '127.0.0.1' : host, port, httpsHosts.length > 0 ? 'https' : 'http')
