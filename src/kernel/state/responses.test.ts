import { expect, test } from 'bun:test'

import { ApiError } from '../errors.ts'
import { responseItemBytesMax, responseItemBytesPerAccountMax, responseItemMs } from '../limits.ts'
import { ResponseItems } from './responses.ts'

function opened() {
  let now = 1
  const remembered = new ResponseItems({ now: () => now })
  const find = (account: string, id: string) => remembered.finder(account)(id)
  return { remembered, find, turn: (ms: number) => void (now += ms) }
}
const item = (id: string, chars: number) => ({ id, text: 'a'.repeat(chars) })
const logprobs = [{ token: 'a', logprob: -0.1 }]

test('an item is found by its own account for an hour', () => {
  const { remembered, find, turn } = opened()
  remembered.add('ann', { ...item('msg_1', 5), logprobs })
  turn(responseItemMs)
  expect(find('ann', 'msg_1')).toEqual(item('msg_1', 5))
  expect(find('ben', 'msg_1')).toBeUndefined()
  turn(1)
  expect(find('ann', 'msg_1')).toBeUndefined()
})

test('past its limit an account loses its oldest items and others lose none', () => {
  const { remembered, find } = opened()
  remembered.add('ben', item('msg_b', 5))
  const chars = responseItemBytesPerAccountMax / 8
  for (const id of ['msg_1', 'msg_2', 'msg_3', 'msg_4']) remembered.add('ann', item(id, chars))
  expect(find('ann', 'msg_1')).toBeUndefined()
  expect(find('ann', 'msg_2')).toBeDefined()
  expect(find('ben', 'msg_b')).toBeDefined()
  // What is longer than all that an account may have is not kept.
  remembered.add('ann', item('msg_5', 4 * chars))
  expect(find('ann', 'msg_5')).toBeUndefined()
})

test('past the total limit the least recently used account is forgotten', () => {
  const { remembered, find } = opened()
  const chars = responseItemBytesPerAccountMax / 2 - 1_000
  const accounts = Math.floor(responseItemBytesMax / responseItemBytesPerAccountMax) + 1
  for (let at = 0; at < accounts; at += 1) remembered.add(`account ${at}`, item('msg_1', chars))
  expect(find('account 0', 'msg_1')).toBeUndefined()
  expect(find('account 1', 'msg_1')).toBeDefined()
})

test('an account counts with its current size', () => {
  const { remembered, find } = opened()
  const chars = responseItemBytesPerAccountMax / 4
  const accounts = Math.floor(responseItemBytesMax / responseItemBytesPerAccountMax) * 2
  for (let at = 0; at < accounts; at += 1) {
    remembered.add(`account ${at}`, item('msg_1', 5))
    remembered.add(`account ${at}`, item('msg_2', chars))
  }
  expect(find('account 0', 'msg_2')).toBeUndefined()
  expect(find(`account ${accounts - 1}`, 'msg_2')).toBeDefined()
})

test('one request reads at most the bytes of an account', () => {
  const { remembered } = opened()
  remembered.add('ann', item('msg_1', responseItemBytesPerAccountMax / 8))
  const recall = remembered.finder('ann')
  for (let times = 0; times < 3; times += 1) expect(recall('msg_1')).toBeDefined()
  expect(() => recall('msg_1')).toThrow(ApiError)
  expect(remembered.finder('ann')('msg_1')).toBeDefined()
})
