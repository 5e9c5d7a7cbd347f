import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { messageOf } from '../core/text.ts'
import { upstreamRequestsMax } from '../limits.ts'
import { providers, readModels, readUpstreams } from './providers.ts'
import { type Config, type Setting, type SettingName, settings, type Source } from './settings.ts'

/** All that is wrong with the settings, one sentence each. */
export class ConfigFaults extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigFaults'
  }
}

/** Keys of the file that are tables, not settings. */
const tableNames = ['upstream', 'model']

/** Needed before the file can be read. */
const startOnly = new Set<SettingName>(['DATA_DIR', 'DATABASE_URL'])

const names = Object.keys(settings).filter((name): name is SettingName => name in settings)

/**
 * Reads every setting from flags, the environment and berth.toml (BERTH_CONFIG, else in the working
 * folder or in the data folder), in this order of who wins. Throws ConfigFaults with all faults at
 * once. The keys of upstreams are with the server: who asks none of them needs none.
 */
export function loadConfig(
  flags: Record<string, string> = {},
  environment: Record<string, string | undefined> = Bun.env,
  needsKeys = true,
): Config {
  const faults: string[] = []
  const dataDir = flags.DATA_DIR ?? environment.DATA_DIR ?? settings.DATA_DIR.initial
  const [found = 'berth.toml', second] = [
    ...new Set([resolve('berth.toml'), resolve(dataDir, 'berth.toml')]),
  ].filter(existsSync)
  const path = environment.BERTH_CONFIG ?? found
  if (path === found && second) faults.push(`There are ${found} and ${second}. Keep one.`)
  const { file, tables } = readToml(path, environment.BERTH_CONFIG !== undefined, faults)
  for (const key of Object.keys(environment)) {
    if (key.startsWith('BERTH_') && key !== 'BERTH_CONFIG') {
      faults.push(`${key} is no setting of Berth. See: berth config`)
    }
  }
  const values: Record<string, unknown> = {}
  const warnings: string[] = []
  values.warnings = warnings
  values.rows = names.map((name) => {
    const [text, source] = pickSource(name, flags, environment, file)
    if (source === 'environment' && (file[name] ?? text) !== text) {
      const place = `in the environment than in ${path}`
      warnings.push(`${name} is another one ${place}; that of the environment counts.`)
    }
    const setting: Setting<unknown> = settings[name]
    const value = setting.read(text)
    if (value === undefined) faults.push(`${name} (${source}) takes ${setting.takes}.`)
    values[camel(name)] = value
    return { name, value: shown(setting, text), source, help: setting.help }
  })
  Object.assign(values, readTables(tables, values, environment, needsKeys, faults))
  if (Boolean(values.oidcIssuer) !== Boolean(values.oidcClientId)) {
    faults.push('OIDC_ISSUER and OIDC_CLIENT_ID go together: one of them is not set.')
  }
  if (values.personHeader && String(values.trustedProxies) === '') {
    faults.push('PERSON_HEADER needs TRUSTED_PROXIES: from nobody else is it taken.')
  }
  if (values.keysOpen === 'invite' && values.operatorToken === '') {
    warnings.push('KEYS_OPEN is invite and OPERATOR_TOKEN is not set: POST /keys refuses all.')
  }
  if (String(values.appUrl).startsWith('https:') && String(values.trustedProxies) === '') {
    warnings.push(
      'APP_URL is https and TRUSTED_PROXIES is not set: limits take all who come by the proxy for one.',
    )
  }
  if (!isWhole(values, faults)) throw new ConfigFaults(faults)
  return values
}

/** The tables of the file, told apart by their upstreams: of a table, or of a provider's key. */
function readTables(
  tables: Record<string, unknown>,
  values: Record<string, unknown>,
  environment: Record<string, string | undefined>,
  needsKeys: boolean,
  faults: string[],
): Pick<Config, 'upstreams' | 'models'> {
  const fault = (sentence: string): void => void faults.push(sentence)
  const lack = needsKeys ? fault : () => {}
  const upstreams = readUpstreams(tables.upstream, (name) => environment[name], fault, lack)
  const keyed = Object.entries(providers).flatMap(([name, { key }]) =>
    values[key] || !needsKeys ? [name] : [],
  )
  const names = [...upstreams.map(({ name }) => name), ...keyed]
  return { upstreams, models: readModels(tables.model, names, fault) }
}

/** Every setting was read without a fault, so the record is a Config. */
const isWhole = (values: object, faults: string[]): values is Config =>
  faults.length === 0 && Object.keys(values).length === names.length + tableNames.length + 2

const camel = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const shown = (setting: Setting<unknown>, text: string): string =>
  setting.secret && text ? '(set)' : text

function pickSource(
  name: SettingName,
  flags: Record<string, string>,
  environment: Record<string, string | undefined>,
  file: Record<string, string>,
): [string, Source] {
  const flag = flags[name]
  if (flag !== undefined) return [flag, 'flag']
  const variable = environment[name]
  if (variable !== undefined) return [variable, 'environment']
  const row = file[name]
  return row === undefined ? [settings[name].initial, 'default'] : [row, 'berth.toml']
}

interface Toml {
  /** The settings as texts by name. */
  file: Record<string, string>
  tables: Record<string, unknown>
}

/** Reads the file; what is wrong with it is added to `faults`. */
function readToml(path: string, required: boolean, faults: string[]): Toml {
  const tables: Record<string, unknown> = {}
  const file: Record<string, string> = {}
  if (!existsSync(path)) {
    if (required) faults.push(`BERTH_CONFIG names ${path}, which does not exist.`)
    return { file, tables }
  }
  let parsed: object = {}
  try {
    parsed = Bun.TOML.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    faults.push(`${path} is not TOML: ${messageOf(error)}`)
  }
  for (const [key, value] of Object.entries(parsed)) {
    if (tableNames.includes(key)) {
      tables[key] = value
      continue
    }
    const name = names.find((known) => known === key.toUpperCase())
    if (!name) faults.push(`${path}: "${key}" is no setting of Berth. See: berth config`)
    else if (startOnly.has(name)) faults.push(`${path}: set ${name} in the environment instead.`)
    else file[name] = textOf(value)
  }
  return { file, tables }
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return Array.isArray(value) ? value.join(',') : String(value)
}

const requestsName = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * The environment for a process with upstreams, which may have many requests to them open at once.
 * Bun reads the bound, 256 unless told, before any code of ours runs. Undefined when there is
 * nothing to tell.
 */
export function environmentForMany(config: Config): typeof Bun.env | undefined {
  const isKeyed = Object.values(providers).some(({ key }) => config[key] !== '')
  if (Bun.env[requestsName] || (config.upstreams.length === 0 && !isKeyed)) return undefined
  return { ...Bun.env, [requestsName]: String(upstreamRequestsMax) }
}

/** Whether this process was told to keep its data in PostgreSQL: tables are made for one engine. */
export const databaseUrl = (): string => Bun.env.DATABASE_URL ?? ''
