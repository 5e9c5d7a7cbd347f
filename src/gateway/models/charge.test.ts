import { expect, test } from 'bun:test'

import fc from 'fast-check'

import { chargeOf, maxCost, type UsageBounds } from './charge.ts'
import { type Price, type PriceTexts, readPrice } from './price.ts'
import { createUsage, type Usage } from './usage.ts'

function priced(texts: PriceTexts): Price {
  const price = readPrice(texts)
  if ('error' in price) throw new Error(price.error)
  return price
}

/** Creates a price from USD per million tokens. */
const mini = priced({ prompt: '0.0000000375', completion: '0.00000015', cache_read: '0.00000001' })
const thinker = priced({
  prompt: '0.000003',
  completion: '0.000015',
  cache_read: '0.0000003',
  cache_write: '0.00000375',
  reasoning: '0.00002',
  tiers: [{ above: 1_000, prompt: '0.000006', completion: '0.0000225', cache_read: '0.0000006' }],
})

const audioModel = priced({
  prompt: '0.0000001',
  completion: '0.0000004',
  cache_read: '0.00000003',
  audio: '0.000001',
})

test.each<[string, Price, Partial<Usage>, bigint]>([
  ['one token of a fraction of a Nano rounds up once', mini, { prompt: 1 }, 38n],
  ['two halves make a whole', mini, { prompt: 2 }, 75n],
  ['all parts are added before it is rounded', mini, { prompt: 1, completion: 1 }, 188n],
  ['cached tokens are paid as such, not twice', mini, { prompt: 10, cached: 4 }, 265n],
  ['all of it cached', mini, { prompt: 10, cached: 10 }, 100n],
  ['written to a cache', thinker, { prompt: 10, cacheWrite: 4 }, 33_000n],
  [
    'without a price for the cache, as fresh',
    priced({ prompt: '0.000001' }),
    { prompt: 10, cached: 4, cacheWrite: 3 },
    10_000n,
  ],
  ['sound in the prompt, at its own price', audioModel, { prompt: 10, audio: 4 }, 4_600n],
  [
    'the cached part of a prompt with sound is charged as text',
    audioModel,
    { prompt: 10, audio: 4, cached: 8 },
    2_240n,
  ],
  ['without a price for sound, as words', mini, { prompt: 10, audio: 10 }, 375n],
  ['reasoning is a part of the completion', thinker, { completion: 10, reasoning: 4 }, 170_000n],
  ['without a price for reasoning, as words', mini, { completion: 10, reasoning: 10 }, 1_500n],
  ['at the edge of a tier, the price below', thinker, { prompt: 1_000 }, 3_000_000n],
  ['above it, all of it at the price above', thinker, { prompt: 1_001, completion: 1 }, 6_028_500n],
  ['a tier has its own price for the cache', thinker, { prompt: 1_001, cached: 1_001 }, 600_600n],
  ['pictures', priced({ per_image: '0.04' }), { images: 3 }, 120_000_000n],
  ['seconds, also parts of one', priced({ per_second: '0.1' }), { seconds: 1.5 }, 150_000_000n],
  ['minutes, by the second', priced({ per_minute: '0.006' }), { seconds: 30.5 }, 3_050_000n],
  ['characters', priced({ per_character: '0.000015' }), { characters: 7 }, 105_000n],
  ['searches', priced({ per_search: '0.01' }), { searches: 2 }, 20_000_000n],
  ['nothing used is 1 Nano', mini, {}, 1n],
  ['nothing that has a price is 1 Nano', mini, { images: 5 }, 1n],
  [
    'a published 0 is 0',
    priced({ prompt: '0', completion: '0' }),
    { prompt: 1e6, completion: 1e6 },
    0n,
  ],
])('%s', (_, price, usage, charge) => {
  expect<bigint>(chargeOf(price, createUsage(usage))).toBe(charge)
})

test('computes large amounts exactly', () => {
  const price = priced({ prompt: '123456789.000000000000001' })
  const rate = 123_456_789_000_000_000_000_001n
  const exact = (rate * BigInt(2 ** 53 - 1) + 999_999n) / 1_000_000n
  expect<bigint>(chargeOf(price, createUsage({ prompt: 2 ** 53 - 1 }))).toBe(exact)
})

const rate = fc.option(fc.bigInt(0n, 10n ** 12n), { nil: undefined })
const anyPrice = fc
  .record({
    prompt: fc.bigInt(0n, 10n ** 12n),
    completion: fc.bigInt(0n, 10n ** 12n),
    cacheRead: rate,
    cacheWrite: rate,
    audio: rate,
    reasoning: rate,
    perImage: rate,
    perSecond: rate,
    perMinute: rate,
    perCharacter: rate,
    perSearch: rate,
    tiers: fc.array(
      fc.record({
        above: fc.nat(3_000),
        prompt: fc.bigInt(0n, 10n ** 12n),
        completion: fc.bigInt(0n, 10n ** 12n),
        cacheRead: rate,
        cacheWrite: rate,
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ tiers, ...rates }): Price => {
    const known = <T extends object>(row: T) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
    const sorted = tiers.toSorted((a, b) => a.above - b.above)
    const rows = sorted.map((tier) => ({
      ...known(tier),
      above: tier.above,
      prompt: tier.prompt,
      completion: tier.completion,
    }))
    return { id: 'pr_any', ...known(rates), ...(rows.length > 0 ? { tiers: rows } : {}) }
  })

const anyUse = fc
  .record({
    prompt: fc.nat(5_000),
    cachedPart: fc.float({ min: 0, max: 1, noNaN: true }),
    writtenPart: fc.float({ min: 0, max: 1, noNaN: true }),
    soundPart: fc.float({ min: 0, max: 1, noNaN: true }),
    completion: fc.nat(5_000),
    reasoningPart: fc.float({ min: 0, max: 1, noNaN: true }),
    images: fc.nat(10),
    searches: fc.nat(3),
    seconds: fc.float({ min: 0, max: 100, noNaN: true }),
    characters: fc.nat(4_000),
  })
  .map(({ cachedPart, writtenPart, soundPart, reasoningPart, ...use }) => {
    const cached = Math.floor(use.prompt * cachedPart)
    const cacheWrite = Math.floor((use.prompt - cached) * writtenPart)
    const reasoning = Math.floor(use.completion * reasoningPart)
    const audio = Math.floor(use.prompt * soundPart)
    return createUsage({ ...use, cached, cacheWrite, audio, reasoning })
  })

test('never charges more than the maximum cost', () => {
  const budget = fc.record({ prompt: fc.nat(2_000), completion: fc.nat(2_000) })
  fc.assert(
    fc.property(anyPrice, anyUse, budget, (price, usage, more) => {
      const { images, searches, seconds, characters } = usage
      const bounds: UsageBounds = {
        inputTokensMax: usage.prompt + more.prompt,
        hasAudio: usage.audio > 0,
        outputTokensMax: usage.completion + more.completion,
        images,
        searches,
        seconds,
        characters,
      }
      expect(chargeOf(price, usage) <= maxCost(price, bounds)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('computes the maximum cost from the highest rate', () => {
  const bounds = { inputTokensMax: 1_000, outputTokensMax: 300 }
  // 1,000 cache writes and 300 reasoning tokens.
  expect<bigint>(maxCost(thinker, bounds)).toBe(3_750_000n + 6_000_000n)
  // One more token reaches the tier.
  expect<bigint>(maxCost(thinker, { ...bounds, inputTokensMax: 1_001 })).toBe(
    6_006_000n + 6_750_000n,
  )
  expect<bigint>(maxCost(mini, { inputTokensMax: 0, outputTokensMax: 0 })).toBe(1n)
  const free = priced({ prompt: '0', completion: '0' })
  expect<bigint>(maxCost(free, bounds)).toBe(0n)
})

test('includes audio in the maximum cost only when present', () => {
  const bounds = { inputTokensMax: 1_000, outputTokensMax: 0 }
  expect<bigint>(maxCost(audioModel, bounds)).toBe(100_000n)
  expect<bigint>(maxCost(audioModel, { ...bounds, hasAudio: true })).toBe(1_000_000n)
})

test('caps the cost of an unknown window', () => {
  expect(() => maxCost(mini, { inputTokensMax: Infinity, outputTokensMax: 1 })).toThrow(RangeError)
})
