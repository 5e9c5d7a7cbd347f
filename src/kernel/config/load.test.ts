import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ConfigError, isServiceVariable, loadConfig } from './load.ts'
import { SettingsSchema } from './settings.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'berth-config-'))
const problemsOf = (
  flags: Record<string, string>,
  environment: Record<string, string>,
): string[] => {
  try {
    loadConfig(flags, environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
  }
  return []
}

test('settings have defaults', () => {
  const config = loadConfig({}, { DATA_DIR: folder() })
  expect(config.port).toBe(3000)
  expect(config.host).toBe('127.0.0.1')
  expect(config.dailyCapCredits).toBeNull()
  expect(config.trustedProxies).toEqual([])
})

test('flags override the environment, which overrides berth.toml', () => {
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

test('booleans are on or off, true or false, 1 or 0, in the environment and in berth.toml', () => {
  for (const [isOn, words] of [
    [true, ['on', 'true', '1']],
    [false, ['off', 'false', '0']],
  ] as const) {
    for (const word of words) {
      const dataDir = folder()
      const toml = word.startsWith('o') ? `"${word}"` : word
      writeFileSync(join(dataDir, 'berth.toml'), `games_on = ${toml}`)
      const config = loadConfig({}, { DATA_DIR: dataDir, PRICES_ON: word })
      expect([word, config.gamesOn, config.pricesOn]).toEqual([word, isOn, isOn])
    }
  }
})

test('likely mistakes are warnings that do not show values', () => {
  const dataDir = folder()
  const path = join(dataDir, 'berth.toml')
  writeFileSync(path, 'port = 1\nhost = "::1"\noperator_token = ""\nmetrics_token = "hush"')
  const environment = { DATA_DIR: dataDir, PORT: '1', METRICS_TOKEN: 'quiet', HOST: '::' }
  const { warnings } = loadConfig({ KEYS_OPEN: 'invite' }, environment)
  expect(warnings).toEqual([
    `HOST differs in the environment and in ${path}. The environment wins.`,
    `METRICS_TOKEN differs in the environment and in ${path}. The environment wins.`,
    'KEYS_OPEN is invite and OPERATOR_TOKEN is not set: nothing can create API keys.',
  ])
  const { warnings: flagged } = loadConfig({ HOST: '::3' }, environment)
  expect(flagged.filter((warning) => warning.startsWith('HOST'))).toEqual([])
  const { warnings: alone } = loadConfig({ APP_URL: 'https://x.example' }, {})
  expect(alone).toEqual([expect.stringContaining('TRUSTED_PROXIES is not set')])
  const open = { ...environment, HOST: '::1', METRICS_TOKEN: 'hush' }
  expect(loadConfig({}, open).warnings).toEqual([])
})

test('a number is accepted up to its maximum', () => {
  const read = (bytes: string) => loadConfig({ DISK_FLOOR_BYTES: bytes }, { DATA_DIR: folder() })
  expect(read('1000000000000000').diskFloorBytes).toBe(1e15)
  expect(() => read('1000000000000001')).toThrow()
})

test('all problems are reported at once, with the expected value', () => {
  const problems = problemsOf({ PORT: 'abc' }, { DATA_DIR: folder(), GAMES_ON: 'yes' })
  expect(problems).toHaveLength(2)
  expect(problems.join(' ')).toContain('PORT (flag) must be an integer (0 to 65535)')
  expect(problems.join(' ')).toContain('GAMES_ON (environment) must be on or off')
})

test('an unknown variable is a warning with the nearest setting', () => {
  const unknown = { BERTH_PROT: '1', BERTH_HTTP_PORT: '2', BERTH_KEYSOPEN: 'x', BERTH_HOST: '::' }
  const config = loadConfig({}, { DATA_DIR: folder(), ...unknown })
  expect(config.warnings).toEqual([
    'BERTH_PROT is not a setting of Berth. Did you mean PORT?',
    'BERTH_HTTP_PORT is not a setting of Berth. Did you mean HTTP_PORT?',
    'BERTH_KEYSOPEN is not a setting of Berth. Did you mean KEYS_OPEN?',
    'BERTH_HOST is not a setting of Berth. Did you mean HOST?',
  ])
  expect(config).toMatchObject({ port: 3000, host: '127.0.0.1' })
})

/** The variables of a Service, with a port that has a name (Kubernetes, "Discovering services"). */
const variablesOf = (service: string) => ({
  [`${service}_SERVICE_HOST`]: '10.0.0.11',
  [`${service}_SERVICE_PORT`]: '3000',
  [`${service}_SERVICE_PORT_HTTP`]: '3000',
  [`${service}_PORT`]: 'tcp://10.0.0.11:3000',
  ...Object.fromEntries(
    ['3000_TCP', '53_UDP', '9_SCTP'].flatMap((port) => [
      [`${service}_PORT_${port}`, `${port.split('_')[1]?.toLowerCase()}://10.0.0.11:3000`],
      [`${service}_PORT_${port}_PROTO`, 'tcp'],
      [`${service}_PORT_${port}_PORT`, '3000'],
      [`${service}_PORT_${port}_ADDR`, '10.0.0.11'],
    ]),
  ),
})

test('the variables of Kubernetes Services are ignored, and override no setting', () => {
  const services = ['BERTH', 'BERTH_GATEWAY', 'OLLAMA'].map(variablesOf)
  const environment = Object.assign({ DATA_DIR: folder() }, ...services)
  expect(loadConfig({}, environment).warnings).toEqual([])
  const { warnings } = loadConfig({}, { ...environment, BERTH_PORT: '3000' })
  expect(warnings).toEqual(['BERTH_PORT is not a setting of Berth. Did you mean PORT?'])
  writeFileSync(join(environment.DATA_DIR, 'berth.toml'), 'port = 8080')
  for (const PORT of ['tcp://10.0.0.11:3000', 'udp://10.0.0.11:3000']) {
    const config = loadConfig({}, { ...environment, PORT })
    expect([config.port, config.warnings]).toEqual([8080, []])
  }
  // A name that such a variable can have would never be read.
  const names = Object.keys(SettingsSchema.properties)
  expect(names.filter((name) => isServiceVariable(name, '3000'))).toEqual([])
})

test('address ranges, empty hosts and empty folders are rejected', () => {
  expect(problemsOf({ DATA_DIR: '' }, {})).toEqual([
    'DATA_DIR (flag) must be the path of a folder.',
  ])
  const env = { DATA_DIR: folder(), TRUSTED_PROXIES: '10.0.0.0/8, proxy', HOST: '' }
  const problems = problemsOf({}, env).join(' ')
  expect(problems).toContain('TRUSTED_PROXIES (environment) must be IP addresses (no ranges)')
  expect(problems).toContain('HOST (environment) must be')
  const config = loadConfig({}, { ...env, TRUSTED_PROXIES: ' 10.0.0.1 , ::1', HOST: '::' })
  expect(config).toMatchObject({ trustedProxies: ['10.0.0.1', '::1'], host: '::' })
  const withoutProxies = { DATA_DIR: folder(), PERSON_HEADER: 'Remote-User' }
  expect(problemsOf({}, withoutProxies).join()).toContain('PERSON_HEADER needs TRUSTED_PROXIES')
})

test('invalid header names and site URLs with a path are rejected', () => {
  const env = { DATA_DIR: folder(), TRUSTED_PROXIES: '10.0.0.1' }
  for (const name of ['Remote-User:', 'a b', 'Rémote']) {
    const problems = problemsOf({}, { ...env, PERSON_HEADER: name })
    expect(problems).toEqual([
      'PERSON_HEADER (environment) must be the name of a header, such as Remote-User.',
    ])
  }
  for (const name of ['APP_URL', 'APPS_URL']) {
    const problems = problemsOf({}, { ...env, [name]: 'https://x.example/berth/' })
    expect(problems).toEqual([
      `${name} (environment) must be an http:// or https:// address without a path.`,
    ])
  }
  const whole = { APP_URL: 'https://x.example/', PERSON_HEADER: 'Remote-User' }
  expect(loadConfig({}, { ...env, ...whole }).appUrl).toBe('https://x.example')
})

test('an OpenID Connect issuer is kept unchanged and needs a client id', () => {
  const env = { DATA_DIR: folder(), OIDC_ISSUER: 'https://id.example/realms/berth/' }
  expect(problemsOf({}, env).join()).toContain('OIDC_ISSUER and OIDC_CLIENT_ID go together')
  expect(problemsOf({}, { ...env, OIDC_ISSUER: 'id.example' }).join()).toContain('http')
  const config = loadConfig({}, { ...env, OIDC_CLIENT_ID: 'berth' })
  expect(config.oidcIssuer).toBe('https://id.example/realms/berth/')
})

test('unknown keys and invalid TOML in berth.toml are rejected', () => {
  const unknown = folder()
  writeFileSync(join(unknown, 'berth.toml'), 'prot = 3000')
  expect(problemsOf({}, { DATA_DIR: unknown })[0]).toEndWith(
    '"prot" is not a setting of Berth. Did you mean PORT?',
  )
  const broken = folder()
  writeFileSync(join(broken, 'berth.toml'), 'port = = 1')
  expect(problemsOf({}, { DATA_DIR: broken })[0]).toContain('is not valid TOML')
  expect(problemsOf({}, { BERTH_CONFIG: '/nowhere/berth.toml' })[0]).toContain('does not exist')
})

test('berth.toml may be in the working folder, in either case, but not in two places', () => {
  const [here, dataDir] = [folder(), folder()]
  const before = process.cwd()
  process.chdir(here)
  writeFileSync('berth.toml', 'PORT = 4\nkeys_open = "invite"')
  expect(loadConfig({}, { DATA_DIR: dataDir })).toMatchObject({
    port: 4,
    keysOpen: 'invite',
  })
  writeFileSync(join(dataDir, 'berth.toml'), 'port = 5')
  expect(problemsOf({}, { DATA_DIR: dataDir })[0]).toContain('Keep one')
  const chosen = join(dataDir, 'berth.toml')
  expect(loadConfig({}, { DATA_DIR: dataDir, BERTH_CONFIG: chosen }).port).toBe(5)
  process.chdir(before)
})

test('secrets are never displayed', () => {
  const { rows } = loadConfig({}, { DATA_DIR: folder(), OPERATOR_TOKEN: 'hush' })
  expect(JSON.stringify(rows)).not.toContain('hush')
  expect(rows.find((row) => row.name === 'OPERATOR_TOKEN')?.value).toBe('(set)')
})

test('the settings of a bucket go together and need PostgreSQL', () => {
  const bucket = {
    S3_ENDPOINT: 'https://s3.example.com',
    S3_BUCKET: 'berth-files',
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
  }
  const DATABASE_URL = 'postgres://localhost/berth'
  expect(loadConfig({}, { ...bucket, DATABASE_URL })).toMatchObject({ s3Bucket: 'berth-files' })
  expect(problemsOf({}, bucket)).toEqual([expect.stringContaining('S3_BUCKET needs DATABASE_URL')])
  const needed = 'S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY'
  expect(problemsOf({}, { DATABASE_URL, S3_BUCKET: 'berth-files' })).toEqual([
    `Storage in S3 also needs ${needed}. Set all of them or none.`,
  ])
  for (const [name, value] of [
    ['S3_PREFIX', '/berth'],
    ['S3_ENDPOINT', 'https://a/b'],
  ]) {
    const wrong = { ...bucket, DATABASE_URL, [name ?? '']: value ?? '' }
    expect(problemsOf({}, wrong)[0]).toStartWith(`${name} (environment) must be`)
  }
})
