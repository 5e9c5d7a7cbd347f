import { afterAll, expect, test } from 'bun:test'

import { effect } from './audio/effect.ts'
import type { Made, Wanted } from './generate.ts'
import { Generators } from './generators.ts'

const makers = new Generators()
afterAll(() => makers.close())

const hash = ({ bytes }: Made) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
const seed = 'one'

const pictures: Wanted[] = [
  { kind: 'sprite', what: 'a red spaceship', seed },
  { kind: 'sprite', what: 'something that no word of ours names', seed },
  { kind: 'picture', what: 'a forest at night', seed, width: 320, height: 200 },
  { kind: 'picture', what: 'brick wall tile', seed, width: 64, height: 64 },
]

for (const wanted of pictures)
  test(`${wanted.kind}: ${wanted.what}`, async () => {
    const made = await makers.make(wanted)
    const { width, height, format } = await new Bun.Image(made.bytes).metadata()
    expect({ width, height, format }).toEqual({
      width: made.width ?? 0,
      height: made.height ?? 0,
      format: 'png',
    })
    expect(made).toMatchObject({ width: wanted.width ?? 128, height: wanted.height ?? 128 })
    expect(hash(await makers.make(wanted))).toBe(hash(made))
  })

const sounds: [Wanted, seconds: number | undefined][] = [
  [{ kind: 'sound', what: 'coin', seed }, undefined],
  [{ kind: 'sound', what: 'a big explosion', seed, seconds: 0.5 }, 0.5],
  [{ kind: 'music', what: 'calm sea', seed, seconds: 3 }, 3],
  [{ kind: 'voice', what: 'Welcome aboard.', seed }, undefined],
  [{ kind: 'voice', what: '-lv <p>', seed, voice: 'robot' }, undefined],
]

for (const [wanted, seconds] of sounds)
  test(`${wanted.kind}: ${wanted.what}`, async () => {
    const made = await makers.make(wanted)
    expect(new TextDecoder().decode(made.bytes.subarray(0, 4))).toBe('OggS')
    expect(made.seconds ?? 0).toBeGreaterThan(0.14)
    if (seconds !== undefined) expect(made.seconds).toBeCloseTo(seconds, 1)
    expect(hash(await makers.make(wanted))).toBe(hash(made))
  })

test('an effect is long enough to be heard, and as long as was asked', () => {
  const words = ['explosion', 'coin', 'laser', 'jump', 'hit', 'click', 'blip', 'power up', 'alarm']
  for (const what of words) {
    for (let at = 0; at < 8; at += 1) {
      const last = (seconds?: number) => effect(what, `${at}`, seconds).channels[0]?.length ?? 0
      expect([what, at, last() > 0.14 * 44_100]).toEqual([what, at, true])
      expect([what, at, Math.round(last(0.5) / 441)]).toEqual([what, at, 50])
    }
  }
})

test('another seed makes another one', async () => {
  const hashes = await Promise.all(
    ['1', '2', '3'].map(async (other) =>
      hash(await makers.make({ kind: 'music', what: 'happy', seed: other, seconds: 1 })),
    ),
  )
  expect(new Set(hashes).size).toBe(3)
})

test('a sprite stands on nothing', async () => {
  const { bytes } = await makers.make({ kind: 'sprite', what: 'a coin', seed })
  const [bitDepth, colourType] = bytes.subarray(24, 26)
  expect({ bitDepth, colourType }).toEqual({ bitDepth: 8, colourType: 6 })
})
