import { afterAll, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'

import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { until } from '../../testing/until.ts'

const later = fakeModel('ok', { id: 'fake/later' })
const offers = later.offers.map((offer) => ({ ...offer, model: 'fake/later' }))
/**
 * A client that ends its sending side may still wait for the response. Bun closes such a connection
 * and aborts the request, so the server cannot tell it from a client that left. A Bun that keeps
 * the connection open fails the first test: then a half-close must stop to end a call.
 */
const faked = await startFakeUpstreamServer({}, [{ ...later, offers }])
afterAll(() => faked.close())

const path = '/v1/chat/completions'
const body = { model: 'fake/later', messages: [{ role: 'user', content: 'Say hello.' }] }

/** Sends a request, ends the sending side, and returns what the server sends back. */
async function sendAndHalfClose({ key }: GatewayUser, header = ''): Promise<string> {
  const before = faked.fake.received.length
  const { hostname, port } = new URL(faked.origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const received: Buffer[] = []
  socket.on('data', (bytes: Buffer) => void received.push(bytes))
  const text = JSON.stringify(body)
  const head =
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r\n${header}` +
    `content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
  await once(socket, 'connect')
  socket.write(head + text)
  await faked.fake.arrival(before)
  const ended = once(socket, 'end')
  socket.end()
  await ended
  socket.destroy()
  return Buffer.concat(received).toString()
}

/** Holds the response of the upstream back until the returned function is called. */
function holdBack(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  faked.fake.script('fake/later', [{ until: promise }, ...(scripts.ok?.plain ?? [])])
  return resolve
}

test('Bun ends a half-closed call, which pays for its prompt and releases its upstream', async () => {
  const gus = await faked.gus()
  const release = holdBack()
  expect(await sendAndHalfClose(gus)).toBe('')
  await until(async () => (await faked.lastUse(gus)).total > 0)
  const { use } = await faked.lastUse(gus)
  expect(use).toMatchObject({ status: 'interrupted', output: 0, estimated: true })
  expect([(use?.charged ?? 0n) > 0n, (use?.charged ?? 0n) < (use?.held ?? 0n)]).toEqual([
    true,
    true,
  ])
  await faked.fake.received.at(-1)?.ended
  expect(faked.fake.received.at(-1)?.left).toBe(true)
  release()
  expect(await faked.findProblems(gus)).toEqual([])
})

test('under an Idempotency-Key a half-closed call completes, and a retry gets it', async () => {
  const gus = await faked.gus()
  const release = holdBack()
  expect(await sendAndHalfClose(gus, 'idempotency-key: half\r\n')).toBe('')
  release()
  const response = await until(async () => {
    const retried = await gus.call('POST', path, body, { 'idempotency-key': 'half' })
    return retried.status !== 409 && retried
  })
  expect(response.status).toBe(200)
  expect((await faked.lastUse(gus)).use).toMatchObject({ status: 'completed', output: 7 })
  expect(await faked.findProblems(gus)).toEqual([])
})
