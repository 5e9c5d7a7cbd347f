import { expect, test } from 'bun:test'

import fc from 'fast-check'

import {
  fromUsdPerUnit,
  hasRate,
  isFree,
  parts,
  presentPrice,
  type Price,
  type PriceTexts,
  readPrice,
  storedPrice,
  toUsdPerUnit,
} from './price.ts'

const priced = (texts: PriceTexts, margin?: number): Price => {
  const price = readPrice(texts, margin)
  if ('error' in price) throw new Error(price.error)
  return price
}

test('keeps all digits of a price per token', () => {
  expect(fromUsdPerUnit('0.0000000375')).toBe(37_500_000n)
  expect(fromUsdPerUnit('0.000000000000001')).toBe(1n)
  expect(fromUsdPerUnit('15')).toBe(15_000_000_000_000_000n)
  expect(toUsdPerUnit(37_500_000n)).toBe('0.0000000375')
  expect(toUsdPerUnit(0n)).toBe('0')
})

test('round-trips every rate', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 24n - 1n), (rate) => {
      expect(fromUsdPerUnit(toUsdPerUnit(rate))).toBe(rate)
    }),
  )
})

test('rejects invalid prices', () => {
  for (const text of ['', '-1', '1e-7', '.5', '1.', '0.0000000000000001', 'NaN', '1,5', ' 1']) {
    expect(fromUsdPerUnit(text)).toBeUndefined()
    expect(readPrice({ prompt: text })).toHaveProperty('error')
  }
  expect(readPrice({ tiers: [{ above: 1, prompt: 'x', completion: '1' }] })).toHaveProperty('error')
  expect(
    readPrice({ tiers: [{ above: 1, prompt: '1', completion: '1', cache_read: '' }] }),
  ).toHaveProperty('error')
  expect(readPrice({ per_second: '1', per_minute: '1' })).toHaveProperty('error')
})

test('omits missing parts and gives equal prices equal ids', () => {
  const price = priced({ prompt: '0.0000000375', per_image: '0.04' })
  expect(Object.keys(price).toSorted()).toEqual(['id', 'perImage', 'prompt'])
  expect(priced({ per_image: '0.04', prompt: '0.00000003750' }).id).toBe(price.id)
  expect(priced({ per_image: '0.05', prompt: '0.0000000375' }).id).not.toBe(price.id)
  expect(price.id).toMatch(/^pr_[0-9a-f]{12}$/)
})

test('adds the margin and rounds up', () => {
  const texts = {
    prompt: '0.000000000000001',
    completion: '0.000001',
    tiers: [{ above: 5, prompt: '0.000002', completion: '0.000004', cache_read: '0.000001' }],
  }
  expect(priced(texts, 10)).toMatchObject({ prompt: 2n, completion: 1_100_000_000n })
  expect(priced(texts, 10).tiers?.[0]).toEqual({
    above: 5,
    prompt: 2_200_000_000n,
    completion: 4_400_000_000n,
    cacheRead: 1_100_000_000n,
  })
})

test('keeps the whole price on the wire and in the hold', () => {
  const texts: PriceTexts = {
    prompt: '0.0000000375',
    completion: '0.00000015',
    cache_write: '0',
    tiers: [
      { above: 200_000, prompt: '0.000001', completion: '0.000002', cache_write: '0.000003' },
      { above: 400_000, prompt: '0.000004', completion: '0.000005' },
    ],
  }
  const price = priced({ ...texts, tiers: texts.tiers?.toReversed() ?? [] })
  expect(presentPrice(price)).toEqual(texts)
  const kept = storedPrice(price)
  expect(kept).toMatchObject({ id: price.id, prompt: '37500000', cache_write: '0' })
  expect(JSON.parse(kept.tiers ?? '')).toEqual(texts.tiers)
})

test('treats a price as free only when all parts are 0', () => {
  expect(isFree(priced({ prompt: '0', completion: '0' }), 1)).toBe(true)
  expect(isFree(priced({ prompt: '0', completion: '0.1' }), 1)).toBe(false)
  const tiers = [{ above: 1, prompt: '1', completion: '0' }]
  expect(isFree(priced({ prompt: '0', completion: '0', tiers }), 1)).toBe(false)
})

test('requires the parts that a model type is charged by', () => {
  const one = (part: keyof PriceTexts) => priced({ [part]: '1' })
  expect(hasRate('chat', one('prompt'))).toBe(false)
  expect(hasRate('chat', priced({ prompt: '0', completion: '0' }))).toBe(true)
  expect(hasRate('embedding', one('prompt'))).toBe(true)
  expect(hasRate('embedding', one('completion'))).toBe(false)
  expect(hasRate('image', one('per_image'))).toBe(true)
  expect(hasRate('image', one('prompt'))).toBe(false)
  expect(hasRate('video', one('per_second'))).toBe(true)
  expect(hasRate('video', one('per_character'))).toBe(false)
  expect(hasRate('audio', one('per_minute'))).toBe(true)
  expect(hasRate('audio', one('per_image'))).toBe(false)
  expect(Object.values(parts)).toHaveLength(13)
})
