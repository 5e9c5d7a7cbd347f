import { afterAll, expect, spyOn, test } from 'bun:test'

import { effect } from './audio/effect.ts'
import { oggOf } from './audio/ogg.ts'
import type { GeneratedFile, GenerateRequest } from './generate.ts'
import { Generators } from './generators.ts'

const generators = new Generators()
afterAll(() => generators.close())

const hash = ({ bytes }: GeneratedFile) =>
  new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
const seed = 'one'

const images: GenerateRequest[] = [
  { kind: 'sprite', what: 'a red spaceship', seed },
  { kind: 'sprite', what: 'something that no word of ours names', seed },
  { kind: 'picture', what: 'a forest at night', seed, width: 320, height: 200 },
  { kind: 'picture', what: 'brick wall tile', seed, width: 64, height: 64 },
]

for (const request of images)
  test(`${request.kind}: ${request.what}`, async () => {
    const made = await generators.generate(request)
    const { width, height, format } = await new Bun.Image(made.bytes).metadata()
    expect({ width, height, format }).toEqual({
      width: made.width ?? 0,
      height: made.height ?? 0,
      format: 'png',
    })
    expect(made).toMatchObject({ width: request.width ?? 128, height: request.height ?? 128 })
    expect(hash(await generators.generate(request))).toBe(hash(made))
  })

const sounds: [GenerateRequest, seconds: number | undefined][] = [
  [{ kind: 'sound', what: 'coin', seed }, undefined],
  [{ kind: 'sound', what: 'a big explosion', seed, seconds: 0.5 }, 0.5],
  [{ kind: 'music', what: 'calm sea', seed, seconds: 3 }, 3],
  [{ kind: 'voice', what: 'Welcome aboard.', seed }, undefined],
  [{ kind: 'voice', what: '-lv <p>', seed, voice: 'robot' }, undefined],
]

for (const [request, seconds] of sounds)
  test(`${request.kind}: ${request.what}`, async () => {
    const made = await generators.generate(request)
    expect(new TextDecoder().decode(made.bytes.subarray(0, 4))).toBe('OggS')
    expect(made.seconds ?? 0).toBeGreaterThan(0.14)
    if (seconds !== undefined) expect(made.seconds).toBeCloseTo(seconds, 1)
    expect(hash(await generators.generate(request))).toBe(hash(made))
  })

test('sounds of equal samples have equal bytes, and the encoder is compiled once for all', async () => {
  const instantiate = spyOn(WebAssembly, 'instantiate')
  const sound = effect('coin', seed)
  expect(await oggOf(sound)).toEqual(await oggOf(sound))
  const programs = instantiate.mock.calls.map(([program]) => program)
  instantiate.mockRestore()
  expect(programs).toHaveLength(2)
  expect(new Set(programs)).toEqual(new Set([expect.any(WebAssembly.Module)]))
})

test('an effect is long enough to hear, and has the requested duration', () => {
  const words = ['explosion', 'coin', 'laser', 'jump', 'hit', 'click', 'blip', 'power up', 'alarm']
  for (const what of words) {
    for (let at = 0; at < 8; at += 1) {
      const last = (seconds?: number) => effect(what, `${at}`, seconds).channels[0]?.length ?? 0
      expect([what, at, last() > 0.14 * 44_100]).toEqual([what, at, true])
      expect([what, at, Math.round(last(0.5) / 441)]).toEqual([what, at, 50])
    }
  }
})

test('a different seed gives a different result', async () => {
  const hashes = await Promise.all(
    ['1', '2', '3'].map(async (other) =>
      hash(await generators.generate({ kind: 'music', what: 'happy', seed: other, seconds: 1 })),
    ),
  )
  expect(new Set(hashes).size).toBe(3)
})

test('a sprite has a transparent background', async () => {
  const { bytes } = await generators.generate({ kind: 'sprite', what: 'a coin', seed })
  const [bitDepth, colorType] = bytes.subarray(24, 26)
  expect({ bitDepth, colorType }).toEqual({ bitDepth: 8, colorType: 6 })
})

test('a large image is resized in a process like a small one in a thread', async () => {
  for (const [width, height] of [
    [300, 200],
    [3_000, 2_000],
  ] as const) {
    const { bytes } = await generators.generate({ kind: 'picture', what: 'a lake', seed: '1' })
    const wide = await new Bun.Image(bytes).resize(width, height, { fit: 'fill' }).png().bytes()
    const own = new Uint8Array(wide)
    const request = { kind: 'painted', bytes: own, width: 64, height: 64, key: false } as const
    const resized = await generators.generate(request)
    const { width: across, height: down } = await new Bun.Image(resized.bytes).metadata()
    expect([across, down]).toEqual([64, 64])
  }
})
