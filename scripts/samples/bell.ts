import { encodeWav, pluck, sine, sound } from './wav.ts'

const RATE = 22050

/** A struck bell: partials of uneven pitch, the high ones dying first. */
export function bell(hertz: number, seconds: number): Buffer {
  const partials = [0.5, 1, 1.19, 1.56, 2, 2.51, 2.66, 3.01]
  const samples = sound(seconds, RATE, (t) =>
    partials.reduce((sum, part, n) => {
      const fall = seconds / (2.2 + n * 1.4)
      return sum + (sine(t, hertz * part) * pluck(t, 0.003, fall)) / (1 + n * 0.6)
    }, 0),
  )
  return encodeWav(samples, RATE)
}
