import { Value } from '@sinclair/typebox/value'

import { checkS3 } from './hosting-settings.ts'
import { checkCoins } from './payment-settings.ts'
import { checkBackups } from './server-settings.ts'
import { camelCase, expectedOf, fromText, toText } from './setting-types.ts'
import { type Config, type SettingName, SettingsSchema, type Source } from './settings.ts'

const { properties } = SettingsSchema

/** The final value of a setting, or the message that its text is invalid. */
type ReadValue = { value: unknown; problem?: undefined } | { value?: undefined; problem: string }

/** Parses the text of a setting, which comes from `source`. */
export function readValue(name: SettingName, text: string, source: Source): ReadValue {
  const schema = properties[name]
  const value = fromText(schema, text)
  return Value.Check(schema, value)
    ? { value: Value.Decode(schema, value) }
    : { problem: `${name} (${source}) must be ${expectedOf(schema)}.` }
}

/** Settings that the operator may change in the console, by name. */
export const editableSettings: ReadonlySet<string> = new Set(
  Object.entries(properties).flatMap(([name, schema]) => (schema['editable'] ? [name] : [])),
)

export const defaultOf = (name: SettingName): string => toText(properties[name].default)

/** Returns the text of a value for display. */
export const shownText = (name: SettingName, text: string): string =>
  isSecret(name) && text !== '' ? '(set)' : text

export const isSecret = (name: SettingName): boolean => properties[name]['secret'] === true

/** A setting whose value is not the operator's to change in the console: see `Source`. */
export const isFixed = (source: Source): boolean => source !== 'console' && source !== 'default'

/**
 * Sets values that were changed in the console, by name and as text, in place. Other settings get
 * their defaults. A value that is set elsewhere wins. Returns the problems; a setting with a
 * problem gets its default.
 */
export function overlay(config: Config, stored: ReadonlyMap<string, string>): string[] {
  const problems: string[] = []
  for (const row of config.rows) {
    if (!editableSettings.has(row.name) || isFixed(row.source)) continue
    const text = stored.get(row.name)
    const read = text === undefined ? undefined : readValue(row.name, text, 'console')
    if (read?.problem !== undefined) problems.push(read.problem)
    const isOwn = read !== undefined && read.problem === undefined
    const initial = defaultOf(row.name)
    row.value = isOwn ? shownText(row.name, text ?? '') : initial
    row.source = isOwn ? 'console' : 'default'
    const { value } = isOwn ? read : readValue(row.name, initial, 'default')
    Reflect.set(config, camelCase(row.name), value)
  }
  return problems
}

/** Returns why a value cannot be set: itself, or together with the others. */
export function problemsOf(config: Config, name: SettingName, text: string): string[] {
  const { value, problem } = readValue(name, text, 'console')
  if (problem !== undefined) return [problem]
  const problems: string[] = []
  checkTogether({ ...config, [camelCase(name)]: value }, problems, [])
  return problems
}

/** Checks settings that depend on each other, at the start and after a change in the console. */
export function checkTogether(
  values: Record<string, unknown>,
  problems: string[],
  warnings: string[],
): void {
  const isBehindProxy = String(values.trustedProxies) !== ''
  if (Boolean(values.oidcIssuer) !== Boolean(values.oidcClientId)) {
    problems.push('OIDC_ISSUER and OIDC_CLIENT_ID go together. Set both or none.')
  }
  if (values.personHeader && !isBehindProxy) {
    problems.push('PERSON_HEADER needs TRUSTED_PROXIES: only their header is accepted.')
  }
  if (values.keysOpen === 'invite' && values.operatorToken === '') {
    warnings.push('KEYS_OPEN is invite and OPERATOR_TOKEN is not set: nothing can create API keys.')
  }
  const isHttps = String(values.appUrl).startsWith('https:')
  if (isHttps && !isBehindProxy && String(values.httpsHosts) === '') {
    warnings.push(
      'APP_URL is https and TRUSTED_PROXIES is not set: rate limits count all clients of the proxy as one.',
    )
  }
  checkCoins(values, problems)
  checkX402(values, problems)
  checkS3(values, problems)
  checkBackups(values, problems)
  if (values.libraries === 'fetch' && values.libraryRegistry === '') {
    problems.push('LIBRARIES=fetch needs LIBRARY_REGISTRY, the URL of an npm registry.')
  }
}

/** Checks the settings of x402 payments together. */
function checkX402(values: Record<string, unknown>, problems: string[]): void {
  if (values.x402PayTo === '') return
  const hasGasKey = values.x402GasKey !== ''
  if (hasGasKey === (values.facilitatorUrl !== '')) {
    const fix = hasGasKey ? 'Set only one of X402_GAS_KEY and FACILITATOR_URL.' : 'Set one.'
    problems.push(`X402_PAY_TO needs X402_GAS_KEY or FACILITATOR_URL to settle payments. ${fix}`)
  }
  const isOwnChain = String(values.x402Network).startsWith('eip155:')
  if (isOwnChain && (values.x402Asset === '' || String(values.x402RpcUrls) === '')) {
    problems.push(`X402_NETWORK ${values.x402Network} needs X402_ASSET and X402_RPC_URLS.`)
  }
  if (!isOwnChain && values.x402Asset !== '') {
    problems.push(`X402_ASSET is for other chains. Remove it, or set X402_NETWORK to eip155:<id>.`)
  }
}
