import { expect, test } from 'bun:test'

import { catchError } from '../testing/catch-error.ts'
import { type Client, runFor } from './client.ts'
import { FairQueue, PoolBusyError, type QueueBounds } from './fair-queue.ts'

const charges: [account: string | undefined, kind: string][] = []

const client = (prefix: string, account?: string): Client => ({
  prefix,
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
  const queue = newQueue({ slots: 2, slotsPerClient: 1 })
  const all = [queue.add('ann 1', ann), queue.add('ann 2', ann)]
  await queue.settle()
  expect(queue.started).toEqual(['ann 1'])
  await drain(queue)
  await Promise.all(all)
})

test('a full queue drops the newest work of the client with the most', async () => {
  const queue = newQueue({ waitingMax: 3 })
  const all = ['1', '2', '3', '4'].map((name) => queue.add(`ann ${name}`, ann))
  const dropped = catchError(all[3] ?? Promise.resolve())
  expect(await catchError(queue.add('ann 5', ann))).toBeInstanceOf(PoolBusyError)
  all.push(queue.add('ben 1', ben))
  expect(await dropped).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  expect(queue.started).toEqual(['ann 1', 'ben 1', 'ann 2', 'ann 3'])
})

test('bytes that wait are bounded', async () => {
  const queue = newQueue({ waitingBytesMax: 300 })
  const all = [queue.add('ann 1', ann), queue.add('ann 2', ann, 200)]
  expect(await catchError(queue.add('ann 3', ann, 200))).toBeInstanceOf(PoolBusyError)
  await drain(queue)
  await Promise.all(all)
})
