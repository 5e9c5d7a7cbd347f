import { afterAll, describe, expect, test } from 'bun:test'

import { chatKinds, modelOfKind, startDemoUpstreams } from '../fakes/demo-upstreams.ts'
import { roundTrips } from './round-trips/all.ts'
import { runRoundTrip } from './round-trips/task.ts'
import { startClientServer } from './server.ts'

/** Clients that write a file with a tool and tell the model its result. */
const upstreams = await startDemoUpstreams()
const gateway = await startClientServer(upstreams.models)
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
