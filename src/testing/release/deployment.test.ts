import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { releases, version } from '../../../package.json'
import { filled } from '../../../scripts/packaging/template.ts'
import { SettingsSchema } from '../../kernel/config/settings.ts'
import { recordOf } from '../../kernel/schema.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../../..')
const packaging = join(root, 'packaging')
const read = (path: string): string => readFileSync(join(packaging, path), 'utf8')
const chart = join(packaging, 'helm/berth')

test('compose file, unit and defaults of Debian name settings only', () => {
  const compose = recordOf(Bun.YAML.parse(read('compose.yaml')))
  const { environment } = recordOf(recordOf(compose['services'])['berth'])
  const unit = [...read('berth.service').matchAll(/^Environment=(\w+)=/gm)]
  const defaults = [...read('deb/default').matchAll(/^#([A-Z_]+)=/gm)]
  const names = [
    ...Object.keys(recordOf(environment)),
    ...[...unit, ...defaults].map(([, name = '']) => name),
  ]
  expect(names.length).toBeGreaterThan(8)
  for (const name of names) expect(Object.keys(SettingsSchema.properties)).toContain(name)
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
