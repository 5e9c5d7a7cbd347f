import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import type { SettingName } from '../../kernel/config/settings.ts'
import { nano } from '../../kernel/money.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { balanceOf, grantTo } from '../../money/ledger/ledger.ts'
import { serve } from '../../server/http/server.ts'
import { unlimited } from '../fixtures/unlimited.ts'
import { type ProviderModel, providerTables } from '../fixtures/with-providers.ts'
import { textAt } from '../processes/server-process.ts'

/** A server with the demo models and one funded gateway key, for real clients. */
export interface ClientServer {
  /** Base URLs for OpenAI clients: with and without /v1. */
  baseUrls: string[]
  key: string
  /** Amount spent so far, in nano USD. */
  spent(): Promise<bigint>
  /** Returns the number of open realtime sessions. */
  sessions(): number
  /** Checks the ledger and stops the server. */
  stop(): Promise<void>
}

const funded = nano(20_000_000_000n)

/** Starts a server on a free port with a temporary data folder, also with models of providers. */
export async function startClientServer(
  models: ProviderModel[] = [],
  settings: Partial<Record<SettingName, string>> = {},
): Promise<ClientServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'berth-clients-'))
  writeFileSync(join(dataDir, 'berth.toml'), models.map(providerTables).join('\n'))
  const flags = {
    PORT: '0',
    DATA_DIR: dataDir,
    DEMO_MODELS: 'on',
    VIDEO_POLL_SECONDS: '1',
    ...unlimited,
    ...settings,
  }
  const serving = await serve(loadConfig(flags, {}))
  const { ctx, origin } = serving
  const made = await fetch(`${origin}/accounts/create`, { method: 'POST' })
  const account = {
    kind: 'gateway',
    owner: textAt(await made.clone().json(), 'credit_id'),
  } as const
  const key = textAt(await made.json(), 'api_key')
  await grantTo(ctx, account, { amount: funded, kind: 'grant', ref: 'funded', free: false })
  return {
    baseUrls: [`${origin}/v1`, origin],
    key,
    spent: async () => funded - (await balanceOf(ctx, account)).balance,
    sessions: () => ctx.state.sessions.size,
    stop: async () => {
      const { held } = await balanceOf(ctx, account)
      const report = await doctor(ctx)
      await serving.stop()
      rmSync(dataDir, { recursive: true, force: true })
      if (held !== 0n || !report.ok) throw new Error(`held ${held}; ${report.text}`)
    },
  }
}
