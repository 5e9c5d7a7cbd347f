import type { SettingName } from '../config/settings.ts'
import { openLog } from '../core/log.ts'
import { systemClock } from '../core/time.ts'
import { doctor } from '../ledger/doctor.ts'
import { Catalogue, type Model } from '../models/catalogue.ts'
import { rawLane } from '../providers/raw.ts'
import { Registry } from '../providers/registry.ts'
import { mediaScripts } from './fake-media.ts'
import { scripts } from './fake-scripts.ts'
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts'
import { type Gus, type ServedGateway, serveGateway } from './gateway.ts'
import { testModel } from './models.ts'
import { openTestHouse, type TestHouse } from './test-server.ts'

/** A house whose chat models are the scripts of the fake upstream: "fake/ok", "fake/hang" ... */
export interface Faked extends TestHouse, ServedGateway {
  fake: FakeUpstream
  /** What the operator was told of upstreams. */
  warnings: Record<string, unknown>[]
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
  const ctx = await openTestHouse(
    { SEARCH_ON: 'off', ...settings },
    { catalogue: new Catalogue([...models, ...more]), upstreams },
  )
  const { stop, ...served } = serveGateway(ctx)
  return {
    ...ctx,
    ...served,
    fake,
    warnings,
    faults: async (gus) => {
      const { faults } = await doctor(ctx.ctx)
      const held = Reflect.get(Object((await gus.call('POST', '/credits/balance')).body), 'held')
      return held === 0 ? faults : [...faults, `${held} USD are still held`]
    },
    close: async () => {
      await stop()
      fake.close()
      await ctx.close()
    },
  }
}

/** The model of a script, at its own upstream. */
export function fakeModel(name: string, more: Partial<Model> = {}): Model {
  const model = testModel(fakePrice, { id: `fake/${name}`, maxOutput: 1_000, ...more })
  return { ...model, offers: [{ upstream: name, model: `fake/${name}`, price: model.price }] }
}
