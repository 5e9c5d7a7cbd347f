import { expect, test } from 'bun:test'

import { catchError } from '../testing/catch-error.ts'
import { type Client, runFor } from './client.ts'
import { FairQueue, PoolBusyError, type QueueBounds } from './fair-queue.ts'

const charges: [account: string | undefined, kind: string][] = []

const client = (prefix: string, account?: string, group?: string): Client => ({
  prefix,
  ...(group && { group }),
  account,
  charge: (kind) => void charges.push([account, kind]),
})
const [ann, ben] = [client('192.0.2.0/24', 'agent:ann'), client('198.51.100.0/24', 'agent:ben')]

/** A queue whose work ends when the test says so. */
function newQueue(bounds: Partial<QueueBounds> = {}) {
  const queue = new FairQueue({
    slots: 1,
    waitingMax: 100,
    waitingBytesMax: 1_000,
    largeBytes: 100,
    ...bounds,
  })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const settle = async () => {
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve()
  }
  return {
    started,
    settle,
    add: (name: string, by: Client, bytes = 1) =>
      runFor(by, () =>
        queue.run(bytes, async () => {
          started.push(name)
          const { promise, resolve } = Promise.withResolvers<void>()
          ends.set(name, resolve)
          await promise
        }),
      ),
    end: async (name: string) => {
      ends.get(name)?.()
      await settle()
    },
  }
}

/** Ends all work in the order in which it starts. */
async function drain({ started, end, settle }: ReturnType<typeof newQueue>): Promise<void> {
  await settle()
  for (let at = 0; at < started.length; at += 1) await end(started[at] ?? '')
}

test('networks take turns, however much one of them has queued', async () => {
  const queue = newQueue()
  const all = [1, 2, 3, 4].map((number) => queue.add(`ann ${number}`, ann))
  all.push(queue.add('ben 1', ben), queue.add('ben 2', ben))
  await drain(queue)
  await Promise.all(all)
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'ann 2', 'ben 2', 'ann 3', 'ann 4'])
  expect(charges).toContainEqual(['agent:ann', 'work'])
})

test('one account with many networks, and one network with many accounts, have one turn', async () => {
  const queue = newQueue()
  const all = [
    queue.add('ann 1', client('203.0.113.0/24', 'agent:ann')),
    queue.add('ann 2', client('203.0.114.0/24', 'agent:ann')),
    queue.add('ann 3', client('203.0.115.0/24', 'agent:ann')),
    queue.add('cy 1', client('203.0.113.0/24', 'agent:cy')),
    queue.add('ben 1', ben),
  ]
  await drain(queue)
  await Promise.all(all)
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'ann 2', 'cy 1', 'ann 3'])
})

test('addresses of a network take turns, and then the accounts of an address', async () => {
  const queue = newQueue()
  const at = (address: number, account: string) =>
    client('203.0.113.0/24', `agent:${account}`, `203.0.113.${address}`)
  const nine = Array.from({ length: 9 }, (_, number) => at(1, `a${number}`))
  const all = nine.flatMap((by) => [1, 2].map((turn) => queue.add(`${by.account} ${turn}`, by)))
  all.push(queue.add('neighbor', at(2, 'neighbor')), queue.add('ben', ben))
  await drain(queue)
  await Promise.all(all)
  const turn = (number: number) => nine.map(({ account }) => `${account} ${number}`)
  const [first, ...others] = turn(1)
  expect(queue.started).toEqual([first ?? '', 'ben', 'neighbor', ...others, ...turn(2)])
})

test('nine accounts of an address have half of the slots, and a network three quarters', async () => {
  const queue = newQueue({ slots: 4, waitingMax: 1_000 })
  const at = (address: number, account: number) =>
    client('203.0.113.0/24', `agent:${account}`, `203.0.113.${address}`)
  const all = Array.from({ length: 9 }, (_, number) => queue.add(`${number}`, at(1, number)))
  await queue.settle()
  expect(queue.started).toEqual(['0', '1'])
  all.push(queue.add('neighbor', at(2, 9)), queue.add('another', at(3, 10)))
  await queue.settle()
  expect(queue.started).toEqual(['0', '1', 'neighbor'])
  all.push(queue.add('ben', ben))
  await queue.settle()
  expect(queue.started).toEqual(['0', '1', 'neighbor', 'ben'])
  await drain(queue)
  await Promise.all(all)
})

test('running bytes are bounded, and no address has more than half of them', async () => {
  const queue = newQueue({ slots: Infinity, bytesMax: 100, largeBytes: Infinity })
  const all = [
    queue.add('ann 1', ann, 30),
    queue.add('ann 2', ann, 30),
    queue.add('ben 1', ben, 60),
    queue.add('cy 1', client('192.0.3.0/24'), 20),
    queue.add('dan 1', client('192.0.4.0/24'), 5),
  ]
  await queue.settle()
  // "ben 1" is alone beyond its half, and "dan 1" needs no more than is free.
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'dan 1'])
  await queue.end('ann 1')
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'dan 1', 'cy 1'])
  await queue.end('ben 1')
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'dan 1', 'cy 1', 'ann 2'])
  await drain(queue)
  await Promise.all(all)
})

test('large work leaves a slot to small work', async () => {
  const queue = newQueue({ slots: 2 })
  const all = [
    queue.add('large 1', ann, 200),
    queue.add('large 2', ann, 200),
    queue.add('large 3', ben, 200),
    queue.add('small', ben),
  ]
  await queue.settle()
  expect(queue.started).toEqual(['large 1', 'small'])
  await drain(queue)
  await Promise.all(all)
  expect(queue.started).toEqual(['large 1', 'small', 'large 2', 'large 3'])
})

test('one client has at most its slots', async () => {
  const queue = newQueue({ slots: 2 })
  const all = [queue.add('ann 1', ann), queue.add('ann 2', ann)]
  await queue.settle()
  expect(queue.started).toEqual(['ann 1'])
  await drain(queue)
  await Promise.all(all)
})

test('a full queue drops the newest work of the client with the most', async () => {
  const queue = newQueue({ waitingMax: 4 })
  const all = ['1', '2', '3'].map((name) => queue.add(`ann ${name}`, ann))
  const dropped = catchError(all[2] ?? Promise.resolve())
  expect(await catchError(queue.add('ann 4', ann))).toBeInstanceOf(PoolBusyError)
  for (const name of ['ben', 'cy', 'dan']) all.push(queue.add(name, client(name)))
  expect(await dropped).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  expect(queue.started).toEqual(['ann 1', 'ben', 'cy', 'dan', 'ann 2'])
})

test('bytes that wait are bounded', async () => {
  const queue = newQueue({ waitingBytesMax: 600 })
  const all = [queue.add('ann 1', ann), queue.add('ann 2', ann, 200)]
  expect(await catchError(queue.add('ann 3', ann, 200))).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  await Promise.all(all)
})

test('work waits for a bounded time', async () => {
  const queue = newQueue({ waitMs: 1 })
  const first = queue.add('ann 1', ann)
  expect(await catchError(queue.add('ben 1', ben))).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  await first
  expect(queue.started).toEqual(['ann 1'])
})

test('one client has at most half of the places and the bytes that wait', async () => {
  const queue = newQueue({ waitingMax: 4, waitingBytesMax: 40 })
  const cy = client('203.0.113.0/24', 'agent:cy')
  const all = [queue.add('ann 1', ann), queue.add('ann 2', ann, 10), queue.add('ann 3', ann, 10)]
  expect(await catchError(queue.add('ann 4', ann, 0))).toBeInstanceOf(PoolBusyError)
  all.push(queue.add('ben 1', ben, 15))
  expect(await catchError(queue.add('ben 2', ben, 6))).toBeInstanceOf(PoolBusyError)
  const dropped = catchError(all[2] ?? Promise.resolve())
  all.push(queue.add('cy 1', cy, 10))
  expect(await dropped).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'cy 1', 'ann 2'])
})

test('a full queue drops the newest work of the account with the most in its network', async () => {
  const queue = newQueue({ waitingMax: 8 })
  const of = (account: string) => client('203.0.113.0/24', account, '203.0.113.1')
  const all = [queue.add('first', ben), ...['1', '2', '3'].map((at) => queue.add(at, of('busy')))]
  const dropped = catchError(all[3] ?? Promise.resolve())
  all.push(queue.add('calm', of('calm')))
  for (const at of [1, 2, 3]) all.push(queue.add(`ben ${at}`, ben))
  all.push(queue.add('cy 1', client('192.0.3.0/24')), queue.add('dan 1', client('192.0.4.0/24')))
  expect(await dropped).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  expect(queue.started).toContain('calm')
  expect(queue.started).not.toContain('3')
})
