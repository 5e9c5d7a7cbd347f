import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import {
  chatKinds,
  type DemoUpstreams,
  modelOfKind,
  startDemoUpstreams,
} from '../fakes/demo-upstreams.ts'
import { roundTrips } from './round-trips/all.ts'
import { runRoundTrip } from './round-trips/task.ts'
import { type ClientServer, startClientServer } from './server.ts'

/** Clients that write a file with a tool and tell the model its result. */
let upstreams: DemoUpstreams
let gateway: ClientServer
beforeAll(async () => {
  upstreams = await startDemoUpstreams()
  gateway = await startClientServer(upstreams.models)
})
afterAll(async () => {
  await gateway.stop()
  await upstreams.stop()
})

const forms = ['plain', 'streamed'] as const
const target = (model: string) => ({ origin: gateway.baseUrls[1] ?? '', key: gateway.key, model })

describe.each(Object.entries(roundTrips))('%s', (_, trip) => {
  test.each(forms)('the demo model, %s', async (form) => {
    const before = await gateway.spent()
    await runRoundTrip(trip, target('demo/chat'), form)
    expect(await gateway.spent()).toBeGreaterThan(before)
  })

  test.each(chatKinds.flatMap((kind) => forms.map((form) => [kind, form] as const)))(
    'an upstream of the kind %s, %s',
    async (kind, form) => {
      const before = await gateway.spent()
      await runRoundTrip(trip, target(modelOfKind(kind)), form)
      expect(upstreams.takeForms(kind)).toEqual([form])
      expect(await gateway.spent()).toBeGreaterThan(before)
    },
  )
})
