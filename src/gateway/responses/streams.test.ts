import { afterAll, expect, test } from 'bun:test'

import { scripts, type Step } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { until } from '../../testing/until.ts'

const whole = scripts.ok?.stream ?? []
const headers = 1
const host = 'models.example'
const cuts = [0, 1, 3, 6, 8]
const settings = { GATEWAY_URL: `http://${host}/gateway` }
const hang: Step = { do: 'hang' }

const models = cuts.map((cut) => ({
  ...fakeModel('ok', { id: `fake/cut-${cut}` }),
  offers: fakeModel('ok').offers.map((offer) => ({ ...offer, model: `fake/cut-${cut}` })),
}))
const translating = await startFakeUpstreamServer(settings, models)
for (const cut of cuts) {
  translating.fake.script(`fake/cut-${cut}`, [...whole.slice(0, headers + cut), hang])
}
afterAll(() => translating.close())

/** Calls, leaves after `mark` has arrived that often, and returns the charge. */
async function leave(
  gus: GatewayUser,
  path: string,
  body: object,
  mark: RegExp,
  times: number,
  faked = translating,
) {
  const before = faked.fake.received.length
  const { total } = await faked.lastUse(gus)
  const client = new AbortController()
  const calling = fetch(`${faked.origin}/gateway/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gus.key}`, host, 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, ...body }),
    signal: client.signal,
  })
  const received = await faked.fake.arrival(before)
  if (times > 0) {
    let seen = ''
    const decoder = new TextDecoder()
    for await (const chunk of (await calling).body?.values({ preventCancel: true }) ?? []) {
      seen += decoder.decode(chunk, { stream: true })
      if ((seen.match(mark)?.length ?? 0) >= times) break
    }
  }
  client.abort()
  await calling.catch(() => undefined)
  // Only the client ends it: the fake hangs, and the gateway's deadlines are minutes.
  await received.ended
  expect(received.left).toBe(true)
  return until(async () => {
    const { use, total: now } = await faked.lastUse(gus)
    return now > total ? use : undefined
  })
}

test.each(cuts)('a client that leaves after %i events pays the same as for a chat', async (cut) => {
  const faked = translating
  const gus = await faked.gus()
  const model = `fake/cut-${cut}`
  // The chat's seventh event has no text and the eighth the usage. Neither has an event here.
  const deltas = Math.min(cut, 6)
  const response = /event: response.output_text.delta/g
  const use = await leave(gus, 'responses', { model, input: 'Say hello.' }, response, deltas)
  const stream_options = { include_usage: true }
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const chat = await leave(
    gus,
    'chat/completions',
    { model, messages, stream_options },
    /data: /g,
    cut,
  )
  expect(use).toMatchObject({ status: 'interrupted', model })
  expect(use.charged).toBeGreaterThan(0n)
  expect(use.charged).toBeLessThanOrEqual(use.held)
  if (cut < 8) expect(use).toMatchObject({ charged: chat.charged, output: chat.output })
  expect((await faked.lastUse(gus)).total).toBe(2)
  expect(await faked.findProblems(gus)).toEqual([])
})

test('a client that leaves a relayed response pays what it received', async () => {
  const faked = await startFakeUpstreamServer(settings, [], {}, 'responses')
  const gus = await faked.gus()
  const model = 'fake/hang-middle'
  const delta = /event: response.output_text.delta/g
  const use = await leave(gus, 'responses', { model, input: 'Say hello.' }, delta, 3, faked)
  expect(faked.fake.received.at(-1)?.path).toBe('/v1/responses')
  const messages = [{ role: 'user', content: 'Say hello.' }]
  const chat = await leave(gus, 'chat/completions', { model, messages }, /data: /g, 3, faked)
  expect(use).toMatchObject({ status: 'interrupted', charged: chat.charged, output: chat.output })
  expect(use.charged).toBeGreaterThan(0n)
  expect(await faked.findProblems(gus)).toEqual([])
  await faked.close()
})
