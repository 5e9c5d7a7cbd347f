import { openLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import { doctor } from '../ledger/doctor.ts'
import { Catalogue, type Model } from '../models/catalogue.ts'
import { listUses, type Use } from '../models/history.ts'
import type { SettingName } from '../settings.ts'
import { rawLane } from '../upstream/raw.ts'
import { Registry } from '../upstream/registry.ts'
import { mediaScripts } from './fake-media.ts'
import { scripts } from './fake-scripts.ts'
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts'
import { type Gus, newGus } from './gateway.ts'
import { openTestHouse, type TestHouse } from './house.ts'
import { testModel } from './models.ts'

/** A house whose chat models are the scripts of the fake upstream: "fake/ok", "fake/hang" ... */
export interface Faked extends TestHouse {
  fake: FakeUpstream
  /** What the operator was told of upstreams. */
  warnings: Record<string, unknown>[]
  /** A gateway account with so many USD. */
  gus(usd?: string): Promise<Gus>
  /** A request to a real server before this house; for clients that leave. */
  origin: string
  /** The newest row of an account's history, and how many there are. */
  lastUse(gus: Gus): Promise<{ use: Use | undefined; total: number }>
  /** What is wrong with the books: the doctor's faults, and credits that are still held. */
  faults(gus: Gus): Promise<string[]>
}

export const fakePrice = { prompt: '0.000001', completion: '0.000004', cache_read: '0.0000005' }

/** Opens it; each script is an upstream of its own, so that one's breaker shuts no other out. */
export async function openFaked(
  settings: Partial<Record<SettingName, string>> = {},
  more: Model[] = [],
): Promise<Faked> {
  const fake = startFakeUpstream()
  const names = Object.keys(scripts)
  const models = names.map((name) => fakeModel(name))
  const warnings: Record<string, unknown>[] = []
  const log = openLog(systemClock, (line) => void warnings.push(JSON.parse(line)))
  const all = [...names, ...Object.keys(mediaScripts)]
  const lanes = all.map((name) => rawLane({ name, baseUrl: fake.baseUrl, apiKey: 'sk-fake' }))
  const upstreams = new Registry(lanes, { clock: systemClock, log })
  const house = await openTestHouse(
    { GATEWAY_REQUESTS_PER_MINUTE: '0', SEARCH_ON: 'off', ...settings },
    { catalogue: new Catalogue([...models, ...more]), upstreams },
  )
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => house.door(request, '127.0.0.1'),
  })
  let accounts = 0
  const account = (gus: Gus) => `gateway:${gus.creditId}`
  return {
    ...house,
    fake,
    warnings,
    origin: `http://127.0.0.1:${server.port}`,
    gus: (usd = '1') => newGus(house, usd, `198.51.100.${++accounts}`),
    lastUse: async (gus) => {
      const query = { account: account(gus), page: 1, size: 1 }
      const { rows, total } = await listUses(house.house.db.read, query)
      return { use: rows[0], total }
    },
    faults: async (gus) => {
      const { faults } = await doctor(house.house)
      const held = Reflect.get(Object((await gus.call('POST', '/credits/balance')).body), 'held')
      return held === 0 ? faults : [...faults, `${held} USD are still held`]
    },
    close: async () => {
      await server.stop(true)
      fake.close()
      await house.close()
    },
  }
}

/** The model of a script, at its own upstream. */
export function fakeModel(name: string, more: Partial<Model> = {}): Model {
  const model = testModel(fakePrice, { id: `fake/${name}`, maxOutput: 1_000, ...more })
  return { ...model, offers: [{ upstream: name, model: `fake/${name}`, price: model.price }] }
}
