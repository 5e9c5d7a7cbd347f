import type { Random } from '../random.ts'

export const rate = 44_100

/** A waveform: maps a phase, in cycles, to a sample from -1 to 1. */
export type Wave = (phase: number) => number

export const square: Wave = (phase) => (phase % 1 < 0.5 ? 0.6 : -0.6)
export const narrowSquare: Wave = (phase) => (phase % 1 < 0.25 ? 0.7 : -0.4)
export const triangle: Wave = (phase) => 4 * Math.abs((phase % 1) - 0.5) - 1
export const sine: Wave = (phase) => Math.sin(phase * Math.PI * 2)

/** A note. Times in seconds, `pan` from -1 (left) to 1 (right). */
export interface Note {
  at: number
  seconds: number
  hertz: number
  loud: number
  wave: Wave
  pan: number
}

export type Stereo = [left: Float32Array, right: Float32Array]

/** Adds a note with a soft attack and a long release, wrapping around the end of the loop. */
export function play(note: Note, [left, right]: Stereo): void {
  const from = Math.round(note.at * rate)
  const held = note.seconds * rate
  const length = Math.round(held + rate * 0.12)
  for (let at = 0; at < length; at += 1) {
    const rise = Math.min(1, at / 260)
    const fall = at < held ? 1 - (0.55 * at) / held : (0.45 * (length - at)) / (length - held)
    const value = note.wave((at * note.hertz) / rate) * note.loud * rise * fall
    const place = (from + at) % left.length
    left[place] = (left[place] ?? 0) + value * (1 - note.pan)
    right[place] = (right[place] ?? 0) + value * (1 + note.pan)
  }
}

/** Adds a drum beat: fading noise over a falling pitch. A volume of 0 omits either. */
export function strike(
  at: number,
  sound: { seconds: number; noise: number; hertz: number; loud: number },
  [left, right]: Stereo,
  random: Random,
): void {
  const from = Math.round(at * rate)
  const length = Math.round(sound.seconds * rate)
  let phase = 0
  for (let index = 0; index < length; index += 1) {
    const fade = (1 - index / length) ** 3
    phase += (sound.hertz * fade) / rate
    const tone = sound.hertz > 0 ? sine(phase) : 0
    const value = (tone + sound.noise * random.between(-1, 1)) * sound.loud * fade
    const place = (from + index) % left.length
    left[place] = (left[place] ?? 0) + value
    right[place] = (right[place] ?? 0) + value
  }
}
