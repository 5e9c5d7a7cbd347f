import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { loadConfig } from '../config/load.ts'
import type { SettingName } from '../config/settings.ts'
import { openLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import { doctor } from '../ledger/doctor.ts'
import type { Use } from '../models/history.ts'
import { openCatalogue } from '../models/open.ts'
import { openUpstreams } from '../providers/registry.ts'
import { type Gus, type ServedGateway, serveGateway } from './gateway.ts'
import { openTestHouse, type TestHouse } from './test-server.ts'

/** The key that every provider of these houses is given. */
export const hushed = 'sk-of-the-operator'

/** A model at a provider of its own kind, as berth.toml names both. */
export interface Provided {
  id: string
  kind: string
  baseUrl: string
  /** The model's name there: its id when left out. */
  model?: string
  type?: string
  inputs?: string[]
  outputs?: string[]
  price?: Record<string, string>
}

/** A house with providers, and what they cost a gateway account. */
export interface ProvidedHouse extends TestHouse, Omit<ServedGateway, 'lastUse'> {
  /** What the operator was told of upstreams. */
  warnings: string[]
  lastUse(gus: Gus): Promise<Use>
  faults(): Promise<string[]>
}

export const providedPrice = {
  prompt: '0.000001',
  completion: '0.000004',
  cache_read: '0.0000001',
  cache_write: '0.000002',
}

/** Opens a house from a berth.toml with these models, each at an upstream of its own. */
export async function openProvided(
  models: Provided[],
  settings: Partial<Record<SettingName, string>> = {},
): Promise<ProvidedHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-provided-'))
  writeFileSync(join(folder, 'berth.toml'), models.map(tablesOf).join('\n'))
  const config = loadConfig({ DATA_DIR: folder, OLLAMA_HOST: 'off', ...settings }, {})
  rmSync(folder, { recursive: true })
  const warnings: string[] = []
  const log = openLog(systemClock, (line) => void warnings.push(line))
  const { registry, ...found } = await openUpstreams(config, { clock: systemClock, log })
  const sources = { ...found, models: config.models, marginPercent: 0, perSearch: undefined }
  const catalogue = await openCatalogue({ ...sources, now: systemClock.now() })
  const ctx = await openTestHouse(settings, { catalogue, upstreams: registry })
  const { stop, lastUse, ...served } = serveGateway(ctx)
  return {
    ...ctx,
    ...served,
    warnings,
    lastUse: async (gus) => {
      const { use } = await lastUse(gus)
      if (!use) throw new Error('Nothing was used.')
      return use
    },
    faults: async () => (await doctor(ctx.ctx)).faults,
    close: async () => {
      await stop()
      await ctx.close()
    },
  }
}

let count = 0

function tablesOf({ id, kind, baseUrl, model = id, type = 'chat', ...more }: Provided): string {
  const { inputs = ['text'], outputs, price = providedPrice } = more
  const name = `${kind}-${++count}`
  const prices = Object.entries(price).map(([part, usd]) => `${part} = "${usd}"`)
  return `
[[upstream]]
name = "${name}"
kind = "${kind}"
base_url = "${baseUrl}"
api_key = "${hushed}"

[[model]]
id = "${id}"
upstream = "${name}"
upstream_model = "${model}"
type = "${type}"
supports_tools = ${type === 'chat'}
inputs = ${JSON.stringify(inputs)}
${outputs ? `outputs = ${JSON.stringify(outputs)}` : ''}
context_length = 100000
max_output = 1000
price = { ${prices.join(', ')} }
`
}
