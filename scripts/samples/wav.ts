/** A sound as samples between -1 and 1. */
export type Sound = Float32Array

/**
 * `seconds` of sound at `rate` samples a second; `at` is asked for each moment (time in
 * seconds, sample number).
 */
export function sound(
  seconds: number,
  rate: number,
  at: (time: number, n: number) => number,
): Sound {
  return Float32Array.from({ length: Math.round(seconds * rate) }, (_, n) => at(n / rate, n))
}

/** A one-pole low pass filter with memory; `cutoff` in hertz may change from sample to sample. */
export function lowPass(rate: number): (input: number, cutoff: number) => number {
  let held = 0
  return (input, cutoff) => {
    held += (input - held) * (1 - Math.exp((-2 * Math.PI * cutoff) / rate))
    return held
  }
}

/** Rises over `attack` seconds, then falls away with time constant `decay`. */
export function pluck(time: number, attack: number, decay: number): number {
  if (time < 0) return 0
  return time < attack ? time / attack : Math.exp(-(time - attack) / decay)
}

/** A sine of `hertz` at `time`. */
export function sine(time: number, hertz: number): number {
  return Math.sin(2 * Math.PI * hertz * time)
}

/**
 * A RIFF WAVE file: PCM, 16 bits, mono, scaled so that its loudest moment is `peak`, its ends
 * faded by 4 ms.
 */
export function encodeWav(samples: Sound, rate: number, peak = 0.85, fade = 0.004): Buffer {
  const loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-6)
  const file = Buffer.alloc(44 + samples.length * 2)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(36 + samples.length * 2, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(rate, 24)
  file.writeUInt32LE(rate * 2, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(samples.length * 2, 40)
  samples.forEach((value, n) => {
    const edge = fade > 0 ? Math.min(1, Math.min(n, samples.length - 1 - n) / (fade * rate)) : 1
    file.writeInt16LE(Math.round((value / loudest) * peak * edge * 32767), 44 + n * 2)
  })
  return file
}
