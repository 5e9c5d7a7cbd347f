import { afterEach, beforeEach, expect, test } from 'bun:test'

import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
beforeEach(async () => {
  t = await startTestServer()
})
afterEach(() => t.close())

const mb = 1_048_576
const connection = { pauseIdleTimeout: () => undefined, upgrade: () => false }
const attacker = '203.0.113.1'
const accounts = 9

/** A request whose body arrives with `deliver`. `wasRead`: the server has asked for it. */
async function send(
  from: string,
  key: string,
  bytes: number,
  { isAnnounced = true, type = 'application/json' } = {},
) {
  const start = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const text = JSON.stringify({ html: '<title>Tide</title>', dryRun: true })
  const body = new ReadableStream(
    {
      pull: async (out) => {
        read.resolve()
        await start.promise
        out.enqueue(new TextEncoder().encode(text.padEnd(isAnnounced ? 0 : bytes)))
        out.close()
      },
    },
    { highWaterMark: 0 },
  )
  const request = new Request('http://localhost:3000/api/apps', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': type,
      ...(isAnnounced && { 'content-length': String(bytes) }),
    },
    body,
  })
  const response = Promise.resolve(t.handle(request, from, connection))
  return { wasRead: read.promise, deliver: start.resolve, response }
}

/** Counts the bytes of bodies that are read. */
class Reads {
  bytes = 0
  private changed = Promise.withResolvers<void>()

  add(wasRead: Promise<unknown>, bytes: number): void {
    void wasRead.then(() => {
      this.bytes += bytes
      this.changed.resolve()
      this.changed = Promise.withResolvers()
    })
  }

  async atLeast(bytes: number): Promise<void> {
    while (this.bytes < bytes) await this.changed.promise
  }
}

const keysOf = async (from: string, count: number): Promise<string[]> => {
  const made = Array.from({ length: count }, () => t.call('POST', '/keys', { from, body: {} }))
  return (await Promise.all(made)).map((one) => one.text('key'))
}

test('a zip larger than all bodies may be is read while those of another address run', async () => {
  const keys = await keysOf(attacker, 3)
  const [key = ''] = await keysOf('198.51.100.7', 1)
  const running = await Promise.all(keys.map((one) => send(attacker, one, 8 * mb)))
  for (const { wasRead } of running) await wasRead
  const zip = await send('198.51.100.7', key, 96 * mb, { type: 'application/zip' })
  await zip.wasRead
  zip.deliver()
  expect((await zip.response).status).toBe(400)
  for (const { deliver } of running) deliver()
  for (const { response } of running) expect((await response).status).toBe(200)
})

test('nine accounts of an address have half of the bytes of bodies, and the next is unread', async () => {
  const keys = await keysOf(attacker, accounts)
  const [victimKey = ''] = await keysOf('198.51.100.7', 1)
  const read = new Reads()
  const sent = await Promise.all(keys.map((key) => send(attacker, key, 8 * mb)))
  for (const { wasRead } of sent) read.add(wasRead, 8 * mb)
  await read.atLeast(24 * mb)
  const victim = await send('198.51.100.7', victimKey, 20 * mb)
  await victim.wasRead
  victim.deliver()
  expect((await victim.response).status).toBe(200)
  expect(read.bytes).toBe(24 * mb)
  for (const { deliver } of sent) deliver()
  const all = await Promise.all(sent.map(({ response }) => response))
  expect(all.map(({ status }) => status)).toEqual(keys.map(() => 200))
  expect(read.bytes).toBe(72 * mb)
})

test('a body without a length, and the largest one, free their bytes with the response', async () => {
  const [key = ''] = await keysOf(attacker, 1)
  for (const isAnnounced of [false, true, false]) {
    const sent = await send(attacker, key, isAnnounced ? 26 * mb : mb, { isAnnounced })
    await sent.wasRead
    sent.deliver()
    expect((await sent.response).status).toBe(200)
  }
})

test('an address has half of the places of waiting bodies, and then try_again', async () => {
  const keys = await keysOf(attacker, accounts)
  const first = await send(attacker, keys[0] ?? '', 26 * mb)
  await first.wasRead
  const waiting = await Promise.all(
    Array.from({ length: 33 }, (_, at) => send(attacker, keys[at % accounts] ?? '', 20 * mb)),
  )
  const rejected = await Promise.race(waiting.map(({ response }) => response))
  expect(rejected.status).toBe(503)
  expect(rejected.headers.get('retry-after')).toBe('60')
  expect(await rejected.json()).toMatchObject({ code: 'try_again' })
  for (const { deliver } of [first, ...waiting]) deliver()
  const all = await Promise.all(waiting.map(({ response }) => response))
  expect(all.filter(({ status }) => status === 200)).toHaveLength(32)
})

test('slow bodies of two networks leave bytes to a third, and end', async () => {
  const networks = ['203.0.113.1', '192.0.2.1', '198.51.100.7']
  const keys = await Promise.all(networks.map((from) => keysOf(from, 1)))
  const send8 = (at: number, bytes: number) => send(networks[at] ?? '', keys[at]?.[0] ?? '', bytes)
  const read = new Reads()
  const slow = []
  for (const at of [0, 1, 0, 1, 0, 1]) {
    const sent = await send8(at, 8 * mb)
    read.add(sent.wasRead, 8 * mb)
    slow.push(sent)
  }
  await read.atLeast(32 * mb)
  const third = await send8(2, 8 * mb)
  await third.wasRead
  third.deliver()
  expect((await third.response).status).toBe(200)
  expect(read.bytes).toBe(32 * mb)
  t.clock.advance(60_000)
  t.ctx.state.bodyArrivals.endSlow()
  await read.atLeast(48 * mb)
  t.clock.advance(60_000)
  t.ctx.state.bodyArrivals.endSlow()
  for (const { response } of slow) {
    const rejected = await response
    expect(rejected.status).toBe(400)
    expect(await rejected.json()).toMatchObject({ error: expect.stringContaining('too slowly') })
  }
})
