import { expect, test } from 'bun:test'

import { openTestHouse } from '../testing/house.ts'

test('a NUL, which PostgreSQL takes in no text, is no key, no maker and no cursor', async () => {
  const { visit, lines, person, close } = await openTestHouse()
  const ann = await person('ann')
  await ann.publish()
  expect((await ann.call('DELETE', '/me/keys/%00')).code).toBe('not_found')
  expect((await ann.call('DELETE', '/me/keys/ak_abc%00defg')).code).toBe('not_found')
  expect((await visit('GET', '/explore/@%00')).status).toBe(404)
  const cursor = Buffer.from(`1 aaaaaaaaaaa\0`).toString('base64url')
  expect((await ann.call('GET', `/apps?cursor=${cursor}`)).code).toBe('bad_request')
  expect(lines.filter(({ level }) => level === 'fault')).toEqual([])
  await close()
})
