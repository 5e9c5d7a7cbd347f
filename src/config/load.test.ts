import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ConfigFaults, loadConfig } from './load.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'berth-config-'))
const faultsOf = (flags: Record<string, string>, environment: Record<string, string>): string[] => {
  try {
    loadConfig(flags, environment)
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults
  }
  return []
}

test('defaults stand when nothing is said', () => {
  const config = loadConfig({}, { DATA_DIR: folder() })
  expect(config.port).toBe(3000)
  expect(config.host).toBe('127.0.0.1')
  expect(config.dailyCapCredits).toBeNull()
  expect(config.trustedProxies).toEqual([])
})

test('a flag wins over the environment, which wins over berth.toml', () => {
  const dataDir = folder()
  writeFileSync(
    join(dataDir, 'berth.toml'),
    'port = 1\nhost = "10.0.0.1"\nkeys_open = "invite"\ngames_on = false\ntrusted_proxies = ["10.0.0.2", "::1"]',
  )
  const config = loadConfig({ PORT: '3' }, { DATA_DIR: dataDir, PORT: '2', HOST: '::1' })
  expect(config).toMatchObject({ port: 3, host: '::1', keysOpen: 'invite', gamesOn: false })
  expect(config.trustedProxies).toEqual(['10.0.0.2', '::1'])
  expect(config.rows.find((row) => row.name === 'PORT')?.source).toBe('flag')
  expect(config.rows.find((row) => row.name === 'HOST')?.source).toBe('environment')
  expect(config.rows.find((row) => row.name === 'KEYS_OPEN')?.source).toBe('berth.toml')
})

test('what may not be meant is a warning, without its value', () => {
  const dataDir = folder()
  const path = join(dataDir, 'berth.toml')
  writeFileSync(path, 'port = 1\nhost = "::1"\noperator_token = ""\nmetrics_token = "hush"')
  const environment = { DATA_DIR: dataDir, PORT: '1', METRICS_TOKEN: 'quiet', HOST: '::' }
  const { warnings } = loadConfig({ KEYS_OPEN: 'invite' }, environment)
  expect(warnings).toEqual([
    `HOST is another one in the environment than in ${path}; that of the environment counts.`,
    `METRICS_TOKEN is another one in the environment than in ${path}; that of the environment counts.`,
    'KEYS_OPEN is invite and OPERATOR_TOKEN is not set: POST /keys refuses all.',
  ])
  const { warnings: flagged } = loadConfig({ HOST: '::3' }, environment)
  expect(flagged.filter((sentence) => sentence.startsWith('HOST'))).toEqual([])
  const { warnings: alone } = loadConfig({ APP_URL: 'https://x.example' }, {})
  expect(alone).toEqual([expect.stringContaining('TRUSTED_PROXIES is not set')])
  const open = { ...environment, HOST: '::1', METRICS_TOKEN: 'hush' }
  expect(loadConfig({}, open).warnings).toEqual([])
})

test('a number may be as large as its sentence says', () => {
  const read = (bytes: string) => loadConfig({ DISK_FLOOR_BYTES: bytes }, { DATA_DIR: folder() })
  expect(read('1000000000000000').diskFloorBytes).toBe(1e15)
  expect(() => read('1000000000000001')).toThrow()
})

test('all faults are told at once, with what is taken', () => {
  const faults = faultsOf({ PORT: 'abc' }, { DATA_DIR: folder(), GAMES_ON: 'yes', BERTH_X: '1' })
  expect(faults).toHaveLength(3)
  expect(faults.join(' ')).toContain('PORT (flag) takes a whole number from 0 to 65535')
  expect(faults.join(' ')).toContain('GAMES_ON (environment) takes on or off')
  expect(faults.join(' ')).toContain('BERTH_X is no setting')
})

test('a proxy that would never be found, or an empty host or folder, is a fault', () => {
  expect(faultsOf({ DATA_DIR: '' }, {})).toEqual(['DATA_DIR (flag) takes the path of a folder.'])
  const env = { DATA_DIR: folder(), TRUSTED_PROXIES: '10.0.0.0/8, proxy', HOST: '' }
  const faults = faultsOf({}, env).join(' ')
  expect(faults).toContain('TRUSTED_PROXIES (environment) takes addresses (no ranges)')
  expect(faults).toContain('HOST (environment) takes')
  const config = loadConfig({}, { ...env, TRUSTED_PROXIES: ' 10.0.0.1 , ::1', HOST: '::' })
  expect(config).toMatchObject({ trustedProxies: ['10.0.0.1', '::1'], host: '::' })
  const nobody = { DATA_DIR: folder(), PERSON_HEADER: 'Remote-User' }
  expect(faultsOf({}, nobody).join()).toContain('PERSON_HEADER needs TRUSTED_PROXIES')
})

test('a header that can be none, and an address below a host, are faults', () => {
  const env = { DATA_DIR: folder(), TRUSTED_PROXIES: '10.0.0.1' }
  for (const name of ['Remote-User:', 'a b', 'Rémote']) {
    const said = faultsOf({}, { ...env, PERSON_HEADER: name })
    expect(said).toEqual([
      'PERSON_HEADER (environment) takes the name of a header, such as Remote-User.',
    ])
  }
  for (const name of ['APP_URL', 'APPS_URL']) {
    const said = faultsOf({}, { ...env, [name]: 'https://x.example/berth/' })
    expect(said).toEqual([
      `${name} (environment) takes an http:// or https:// address without a path.`,
    ])
  }
  const whole = { APP_URL: 'https://x.example/', PERSON_HEADER: 'Remote-User' }
  expect(loadConfig({}, { ...env, ...whole }).appUrl).toBe('https://x.example')
})

test('a sign-in provider is an issuer, as it is written, and a client of it', () => {
  const env = { DATA_DIR: folder(), OIDC_ISSUER: 'https://id.example/realms/berth/' }
  expect(faultsOf({}, env).join()).toContain('OIDC_ISSUER and OIDC_CLIENT_ID go together')
  expect(faultsOf({}, { ...env, OIDC_ISSUER: 'id.example' }).join()).toContain('http')
  const config = loadConfig({}, { ...env, OIDC_CLIENT_ID: 'berth' })
  expect(config.oidcIssuer).toBe('https://id.example/realms/berth/')
})

test('berth.toml with an unknown key, or that is no TOML, is refused', () => {
  const unknown = folder()
  writeFileSync(join(unknown, 'berth.toml'), 'prot = 3000')
  expect(faultsOf({}, { DATA_DIR: unknown })[0]).toContain('"prot" is no setting')
  const broken = folder()
  writeFileSync(join(broken, 'berth.toml'), 'port = = 1')
  expect(faultsOf({}, { DATA_DIR: broken })[0]).toContain('is not TOML')
  expect(faultsOf({}, { BERTH_CONFIG: '/nowhere/berth.toml' })[0]).toContain('does not exist')
})

test('berth.toml may stand in the working folder, in small letters or large; not in two places', () => {
  const [here, dataDir] = [folder(), folder()]
  const before = process.cwd()
  process.chdir(here)
  writeFileSync('berth.toml', 'PORT = 4\nkeys_open = "invite"')
  expect(loadConfig({}, { DATA_DIR: dataDir })).toMatchObject({
    port: 4,
    keysOpen: 'invite',
  })
  writeFileSync(join(dataDir, 'berth.toml'), 'port = 5')
  expect(faultsOf({}, { DATA_DIR: dataDir })[0]).toContain('Keep one')
  const chosen = join(dataDir, 'berth.toml')
  expect(loadConfig({}, { DATA_DIR: dataDir, BERTH_CONFIG: chosen }).port).toBe(5)
  process.chdir(before)
})

test("a secret's value is never shown", () => {
  const { rows } = loadConfig({}, { DATA_DIR: folder(), OPERATOR_TOKEN: 'hush' })
  expect(JSON.stringify(rows)).not.toContain('hush')
  expect(rows.find((row) => row.name === 'OPERATOR_TOKEN')?.value).toBe('(set)')
})
