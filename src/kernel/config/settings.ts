import { type StaticDecode, Type } from '@sinclair/typebox'

import { gateway, guardrail, search, upstreamKeys } from './gateway-settings.ts'
import { builds, hosting, libraryStore, runs, s3 } from './hosting-settings.ts'
import { coins, x402 } from './payment-settings.ts'
import {
  alerting,
  backups,
  https,
  operatorConsole,
  publicUrls,
  safety,
  server,
  signIn,
  site,
  telemetry,
  upgrades,
} from './server-settings.ts'
import type { CamelCase } from './setting-types.ts'
import type { ModelRow, UpstreamRow } from './tables.ts'

/** The settings by section, as docs/settings.md lists them. */
export const sections = {
  Server: server,
  Upgrades: upgrades,
  HTTPS: https,
  Backups: backups,
  'Files in S3': s3,
  'Public URLs and proxies': publicUrls,
  'Web site': site,
  Console: operatorConsole,
  'Sign-in': signIn,
  'Agent API': hosting,
  'Builds and assets': builds,
  Libraries: libraryStore,
  'Model gateway': gateway,
  'Upstream providers': upstreamKeys,
  'Web search': search,
  Guardrail: guardrail,
  'Traces and metrics': telemetry,
  'x402 payments': x402,
  Runs: runs,
  'Coin top-ups': coins,
  Alerts: alerting,
  'Safety and webhooks': safety,
}

/** All settings by the name of their environment variable; berth.toml has them in lower case. */
export const SettingsSchema = Type.Object({
  ...server,
  ...upgrades,
  ...https,
  ...backups,
  ...s3,
  ...publicUrls,
  ...site,
  ...operatorConsole,
  ...signIn,
  ...hosting,
  ...builds,
  ...libraryStore,
  ...gateway,
  ...upstreamKeys,
  ...search,
  ...guardrail,
  ...telemetry,
  ...x402,
  ...runs,
  ...coins,
  ...alerting,
  ...safety,
})

type Settings = StaticDecode<typeof SettingsSchema>
export type SettingName = keyof Settings

/** The origin of a value, by precedence. */
export type Source = 'flag' | 'environment' | 'berth.toml' | 'console' | 'default'

/** A setting with its value for display. The value of a secret is "(set)". */
export interface ConfigRow {
  name: SettingName
  value: string
  source: Source
  description: string
}

/** All settings by camel case name: `DATA_DIR` is `config.dataDir`. */
export type Config = { [Name in SettingName as CamelCase<Name>]: Settings[Name] } & {
  /** The tables `[[upstream]]` and `[[model]]` of berth.toml. */
  upstreams: UpstreamRow[]
  models: ModelRow[]
  /** Every setting as `berth config` prints it. */
  rows: ConfigRow[]
  /** Likely mistakes that do not prevent a start. */
  warnings: string[]
}
