import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { releases, version } from '../../../package.json'
import { filled } from '../../../scripts/packaging/template.ts'
import { loadConfig } from '../../kernel/config/load.ts'
import { SettingsSchema } from '../../kernel/config/settings.ts'
import { recordOf } from '../../kernel/schema.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../../..')
const packaging = join(root, 'packaging')
const read = (path: string): string => readFileSync(join(packaging, path), 'utf8')
const chart = join(packaging, 'helm/berth')

/** Returns the environment of a service, as it is where no variable of the shell is set. */
const environmentOf = (service: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(recordOf(recordOf(service)['environment'])).map(([name, value]) => [
      name,
      String(value).replace(/^\$\{\w+:-\}$/, ''),
    ]),
  )

/** Returns the names and values of lines that match. */
const linesOf = (path: string, line: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...read(path).matchAll(line)].map(([, name = '', value = '']) => [name, value]),
  )

test('compose files, unit and defaults of Debian have valid settings only', () => {
  const one = recordOf(recordOf(Bun.YAML.parse(read('compose.yaml')))['services'])
  const several = recordOf(Bun.YAML.parse(read('../docs/compose.yaml')))
  const environments = [
    environmentOf(one['berth']),
    environmentOf(several['x-berth']),
    linesOf('berth.service', /^Environment=(\w+)=(.*)$/gm),
    linesOf('deb/default', /^#([A-Z_]+)=(.*)$/gm),
  ]
  const known = Object.keys(SettingsSchema.properties)
  for (const environment of environments) {
    expect(Object.keys(environment)).not.toBeEmpty()
    for (const name of Object.keys(environment)) expect(known).toContain(name)
    expect(loadConfig({}, environment).warnings).toEqual([])
  }
})

test('the chart has the version of the program', () => {
  const about = Bun.YAML.parse(read('helm/berth/Chart.yaml'))
  expect(about).toMatchObject({ version, appVersion: version })
})

test('the formula names a download and a checksum for each of its four targets', () => {
  const targets = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
  const sums = Object.fromEntries(targets.map((target, at) => [`SHA256_${target}`, `${at}`]))
  const formula = filled('homebrew/berth.rb', sums)
  for (const [at, target] of targets.entries()) {
    const url = `${releases.url}/${version}/berth-${version}-${target}.gz`
    expect(formula).toContain(`url "${url}"\n      sha256 "${at}"`)
  }
  expect(() => filled('homebrew/berth.rb')).toThrow('unknown placeholder SHA256_darwin-arm64')
})

/** Runs helm and returns its exit code, errors and documents. */
function helm(...words: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['helm', ...words])
  const documents = words[0] === 'template' && exitCode === 0 ? parseAll(String(stdout)) : []
  return { exitCode, errors: `${stdout}${stderr}`, documents }
}

const parseAll = (text: string): unknown[] =>
  text
    .split(/^---$/m)
    .map((document) => Bun.YAML.parse(document))
    .filter((document) => document !== null)

describe.skipIf(Bun.which('helm') === null)('the Helm chart', () => {
  const image = 'image.repository=registry.example/berth'

  test('passes helm lint', () => {
    const { exitCode, errors } = helm('lint', '--strict', chart, '--set', image)
    expect([exitCode, errors]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  test('renders one server with its settings, probes and volume', () => {
    const settings = ['--set', 'settings.APP_URL=https://berth.example']
    const { documents } = helm('template', 'home', chart, '--set', image, ...settings)
    const kinds = documents.map((document) => recordOf(document)['kind'])
    expect(kinds.toSorted()).toEqual(['Service', 'StatefulSet'])
    const set = documents.find((document) => recordOf(document)['kind'] === 'StatefulSet')
    const container = {
      image: `registry.example/berth:${version}`,
      env: [
        { name: 'STOP_DELAY_SECONDS', value: '10' },
        { name: 'APP_URL', value: 'https://berth.example' },
      ],
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
    }
    expect(set).toMatchObject({
      metadata: { name: 'home' },
      spec: {
        replicas: 1,
        template: { spec: { containers: [container] } },
        volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      },
    })
  })

  test('renders several servers with a secret and an ingress, and none without', () => {
    const three = ['template', 'home', chart, '--set', image, '--set', 'replicas=3']
    expect(helm(...three).errors).toContain('set existingSecret to a Secret with DATABASE_URL')
    const { documents } = helm(
      ...three,
      '--set',
      'existingSecret=berth-settings,ingress.enabled=true,ingress.tlsSecret=tls',
      '--set',
      'ingress.hosts={berth.example,apps.example}',
    )
    expect(documents).toContainEqual(
      expect.objectContaining({
        kind: 'Ingress',
        spec: expect.objectContaining({
          tls: [{ secretName: 'tls', hosts: ['berth.example', 'apps.example'] }],
        }),
      }),
    )
    expect(JSON.stringify(documents)).toContain('{"secretRef":{"name":"berth-settings"}}')
  })

  test('asks for the image, which no registry has by default', () => {
    expect(helm('template', 'home', chart).errors).toContain('Set image.repository')
  })
})

test.skipIf(Bun.which('actionlint') === null)('the workflows pass actionlint', () => {
  const { exitCode, stdout } = Bun.spawnSync(['actionlint', '-no-color'], { cwd: root })
  expect([exitCode, String(stdout)]).toEqual([0, ''])
})

test.skipIf(Bun.which('systemd-analyze') === null)('the units pass systemd-analyze', () => {
  const { path, remove } = temporaryFolder('berth-units-')
  // The program is not installed here.
  const service = read('berth.service').replace('/usr/bin/berth', '/bin/true')
  writeFileSync(join(path, 'berth.service'), service)
  writeFileSync(join(path, 'berth.socket'), read('berth.socket'))
  const units = ['berth.service', 'berth.socket'].map((name) => join(path, name))
  const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', ...units])
  expect([exitCode, String(stderr)]).toEqual([0, ''])
  remove()
})
