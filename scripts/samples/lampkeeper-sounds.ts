import { bell } from './bell.ts'
import { seeded } from './random.ts'
import { encodeWav, lowPass, pluck, sine, sound } from './wav.ts'

const RATE = 22050

/**
 * Eight seconds of swell that join their own beginning: two copies laid over each other half a
 * turn apart.
 */
function sea(): Buffer {
  const [rate, length] = [11025, 8]
  const random = seeded(41)
  const [deep, wash] = [lowPass(rate), lowPass(rate)]
  const raw = sound(length * 2, rate, (t) => {
    const white = random() * 2 - 1
    const swell = 0.5 - 0.5 * Math.cos((2 * Math.PI * t) / 4)
    return deep(white, 160) * 2.2 + wash(white, 500 + 900 * swell) * (0.12 + 0.3 * swell * swell)
  })
  const half = length * rate
  const looped = sound(length, rate, (t, n) => {
    const share = t / length
    return (raw[n] ?? 0) * Math.sqrt(share) + (raw[n + half] ?? 0) * Math.sqrt(1 - share)
  })
  return encodeWav(looped, rate, 0.7, 0)
}

function burn(): Buffer {
  const random = seeded(5)
  const filter = lowPass(RATE)
  const samples = sound(0.45, RATE, (t) => {
    const hiss = filter(random() * 2 - 1, 5200 - t * 9000)
    const crackle = random() > 0.985 ? random() * 2 - 1 : 0
    return (hiss + crackle + sine(t, 760 - t * 1300) * 0.18) * pluck(t, 0.006, 0.12)
  })
  return encodeWav(samples, RATE, 0.7)
}

function crack(): Buffer {
  const random = seeded(9)
  const shards = Array.from(
    { length: 14 },
    () => [random() * 0.22, 1800 + random() * 4600] as const,
  )
  const samples = sound(0.9, RATE, (t) => {
    const glass = shards.reduce(
      (sum, [at, hertz]) => sum + sine(t - at, hertz) * pluck(t - at, 0.001, 0.06),
      0,
    )
    const thud = sine(t, 95 - t * 70) * pluck(t, 0.002, 0.16) * 2.4
    return thud + glass * 0.28 + (random() * 2 - 1) * pluck(t, 0.001, 0.04)
  })
  return encodeWav(samples, RATE)
}

function flare(): Buffer {
  const random = seeded(13)
  const filter = lowPass(RATE)
  const samples = sound(1.3, RATE, (t) => {
    const rush = filter(
      random() * 2 - 1,
      t < 0.3 ? 400 + t * 9000 : 3000 * Math.exp(-(t - 0.3) * 4),
    )
    const rise = t < 0.3 ? t / 0.3 : Math.exp(-(t - 0.3) * 3.4)
    return (
      rush * rise * 2 +
      sine(t, 62) * pluck(t - 0.28, 0.01, 0.3) * 1.4 +
      sine(t, 300 + t * 900) * rise * 0.12
    )
  })
  return encodeWav(samples, RATE)
}

function horn(): Buffer {
  const filter = lowPass(RATE)
  const saw = (t: number, hertz: number) => ((t * hertz) % 1) * 2 - 1
  const samples = sound(2.1, RATE, (t) => {
    const breath = Math.min(1, t / 0.18) * Math.min(1, (2.1 - t) / 0.5)
    return filter(saw(t, 98) + saw(t, 98.7) + saw(t, 147) * 0.5, 420 + 180 * breath) * breath
  })
  return encodeWav(samples, RATE, 0.6)
}

/** Water taking something down. */
function sink(): Buffer {
  const random = seeded(17)
  const filter = lowPass(RATE)
  const samples = sound(0.9, RATE, (t) => {
    const bubble = sine(t, 240 - t * 170 + 60 * sine(t, 11 + t * 8)) * pluck(t, 0.03, 0.3)
    return bubble + filter(random() * 2 - 1, 900) * pluck(t, 0.02, 0.22) * 1.5
  })
  return encodeWav(samples, RATE, 0.7)
}

/** The sounds of the arcade game, by file name. */
export function keeperSounds(): Record<string, Buffer> {
  return {
    'sea.wav': sea(),
    'bell.wav': bell(587.33, 1.6),
    'burn.wav': burn(),
    'crack.wav': crack(),
    'flare.wav': flare(),
    'horn.wav': horn(),
    'sink.wav': sink(),
  }
}
