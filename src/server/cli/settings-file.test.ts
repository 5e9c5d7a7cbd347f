import { afterAll, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { settingsToml, writeSettings } from './settings-file.ts'

const folder = temporaryFolder('berth-settings-')
afterAll(() => folder.remove())
const at = (name: string): string => join(folder.path, name)
const environment = { SITE_NOTICE: 'A "new" boat', METRICS_TOKEN: 'a secret token', SIGN_UP: 'off' }

test('a settings file has every setting, and the server reads it without the environment', async () => {
  const config = loadConfig({}, environment, false)
  expect(await writeSettings(config, at('berth.toml'))).toMatchObject({ ok: true })
  expect(statSync(at('berth.toml')).mode & 0o777).toBe(0o600)
  const text = readFileSync(at('berth.toml'), 'utf8')
  expect(text).not.toContain('a secret token')
  const read = loadConfig({}, { BERTH_CONFIG: at('berth.toml') }, false)
  expect(read).toMatchObject({ siteNotice: 'A "new" boat', signUp: 'off', metricsToken: '' })
  expect(read.warnings).toEqual([])
})

test('each default of a settings file is a valid value', () => {
  const config = loadConfig({}, {}, false)
  const lines = settingsToml(config).replaceAll(/^# ([a-z0-9_]+ = )/gm, '$1')
  writeFileSync(at('all.toml'), lines)
  const { rows, ...read } = loadConfig({}, { BERTH_CONFIG: at('all.toml') }, false)
  const { rows: _, ...expected } = config
  expect(read).toEqual(expected)
  const left = rows.filter(({ source }) => source !== 'berth.toml').map(({ name }) => name)
  expect(left).toEqual(['DATA_DIR', 'DATABASE_URL'])
})

test('an existing settings file stays as it is', async () => {
  writeFileSync(at('own.toml'), 'port = 4000\n')
  const result = await writeSettings(loadConfig({}, {}, false), at('own.toml'))
  expect([result.ok, result.text]).toEqual([false, expect.stringContaining('exists')])
  expect(readFileSync(at('own.toml'), 'utf8')).toBe('port = 4000\n')
})
