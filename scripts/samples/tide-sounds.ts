import { bell } from './bell.ts'
import { seeded } from './random.ts'
import { encodeWav, lowPass, pluck, sine, sound } from './wav.ts'

const RATE = 22050

/** Water drawn past, for a tide that turns. */
function tide(): Buffer {
  const random = seeded(23)
  const filter = lowPass(RATE)
  const samples = sound(0.5, RATE, (t) => {
    const arch = Math.sin((Math.PI * t) / 0.5) ** 2
    return filter(random() * 2 - 1, 300 + 1500 * arch) * arch
  })
  return encodeWav(samples, RATE, 0.5)
}

/** Wood against wood. */
function knock(): Buffer {
  const random = seeded(29)
  const samples = sound(0.22, RATE, (t) => {
    const wood = sine(t, 310) + sine(t, 487) * 0.6 + sine(t, 910) * 0.3
    return wood * pluck(t, 0.001, 0.035) + (random() * 2 - 1) * pluck(t, 0.001, 0.008) * 0.7
  })
  return encodeWav(samples, RATE, 0.55)
}

/** Five notes of a music box going home. */
function home(): Buffer {
  const notes = [523.25, 659.25, 783.99, 987.77, 1046.5]
  const samples = sound(1.9, RATE, (t) =>
    notes.reduce((sum, hertz, n) => {
      const at = t - n * 0.11
      return sum + (sine(at, hertz) + sine(at, hertz * 3) * 0.18) * pluck(at, 0.004, 0.5)
    }, 0),
  )
  return encodeWav(samples, RATE, 0.7)
}

/** The sounds of the puzzle, by file name. */
export function tideSounds(): Record<string, Buffer> {
  return {
    'tide.wav': tide(),
    'knock.wav': knock(),
    'dock.wav': bell(880, 0.9),
    'home.wav': home(),
  }
}
