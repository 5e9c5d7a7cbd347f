import { expect, test } from 'bun:test'

import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { dialect } from './columns.ts'
import type { Channel } from './engine.ts'
import { OtherServers } from './replicas/other-servers.ts'
import { replicas } from './replicas/tables.ts'
import { Signals, valueCharsMax } from './signals.ts'

/** A channel without a database: it delivers to all that listen. */
function openChannel() {
  const payloads: string[] = []
  const listeners: ((payload: string) => void)[] = []
  const channel: Channel = {
    publish: async (all) => {
      payloads.push(...all)
      for (const listener of listeners) all.forEach(listener)
    },
    listen: async (onPayload) => {
      listeners.push(onPayload)
      return async () => {}
    },
  }
  return { payloads, channel }
}

/** Returns the signals of one more server, and its warnings. */
function openSignals({ ctx, clock }: TestServer, channel: Channel) {
  const warned: unknown[] = []
  const db = Object.create(ctx.db, { channel: { value: channel } })
  const log = Object.create(ctx.log, {
    warn: { value: (...entry: unknown[]) => void warned.push(entry) },
  })
  const signals = new Signals({ db, log, clock })
  return { signals, warned }
}

test('splits long values, and logs those beyond the limit', async () => {
  const t = await startTestServer()
  const { payloads, channel } = openChannel()
  const [sender, receiver] = [openSignals(t, channel), openSignals(t, channel)]
  const received: (string | undefined)[] = []
  receiver.signals.on('failures', (value) => void received.push(value))
  receiver.signals.start()
  const long = [
    'x'.repeat(5_000),
    '"\\\u0007'.repeat(2_000),
    'é€😀'.repeat(2_001),
    '\0 \n'.repeat(999),
  ]
  // Of two equal signals in one batch one is sent.
  const values = ['short', ...long, 'short', 'y'.repeat(valueCharsMax)]
  await Promise.all(values.map((value) => sender.signals.send('failures', value)))
  await sender.signals.send('failures', 'z'.repeat(valueCharsMax + 1))
  expect(received).toEqual(['short', ...long, 'y'.repeat(valueCharsMax)])
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000)
  expect(sender.warned).toEqual([
    ['signals.too_long', { topic: 'failures', chars: valueCharsMax + 1 }],
  ])
  await Promise.all([sender.signals.close(), receiver.signals.close()])
  await t.close()
})

test('listeners are called without signals while the channel is broken', async () => {
  const t = await startTestServer()
  const broken: Channel = { publish: async () => {}, listen: async () => async () => {} }
  const { signals } = openSignals(t, broken)
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  signals.on('keys', resolve)
  signals.start()
  expect(await promise).toBeUndefined()
  await signals.close()
  await t.close()
})

if (dialect === 'postgres')
  test('a query reaches the running servers, and reports those that do not respond', async () => {
    const t = await startTestServer()
    const { ctx } = t
    const { channel } = openChannel()
    const open = (id: string) => {
      const { signals } = openSignals(t, channel)
      const servers = new OtherServers({ ...ctx, signals }, id, id)
      return { signals, servers }
    }
    const [own, other, dead] = [open('own'), open('other'), open('dead')]
    dead.servers.handler = async () => 'not counted'
    other.servers.handler = async (name, input) => {
      if (name === 'fails') throw new Error('no result')
      return name === 'unknown' ? undefined : `${name} of ${input.length} ${'"'.repeat(9_000)}`
    }
    const ask = (name: string) => own.servers.query(name, 'a b '.repeat(1_000))
    expect(await ask('lines')).toEqual({ results: [], silent: 0 })
    const row = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: 0 }
    await ctx.db.tx((tx) => tx.insert(replicas).values(row))
    // Signals do not arrive yet, so it does not wait.
    expect(await ask('lines')).toEqual({ results: [], silent: 1 })
    for (const { signals } of [own, other, dead]) signals.start()
    await own.signals.send('apps')
    const results = [`lines of 4000 ${'"'.repeat(9_000)}`]
    expect(await ask('lines')).toEqual({ results, silent: 0 })
    const none = { results: [], silent: 1 }
    expect(await Promise.all([ask('unknown'), ask('fails')])).toEqual([none, none])
    expect(t.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    t.lines.length = 0
    for (const { signals } of [own, other, dead]) await signals.close()
    await t.close()
  })
