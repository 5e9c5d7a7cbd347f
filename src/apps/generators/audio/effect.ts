import { sfxr } from 'jsfxr'

import { withRandom } from '../../../kernel/ids.ts'
import { seeded } from '../random.ts'
import type { Samples } from './ogg.ts'

const rate = 44_100
/** Seconds. A shorter effect sounds like a click. */
const shortest = 0.15

/** Words and their jsfxr preset. The first match wins. */
const presets: [words: RegExp, preset: string][] = [
  [/\b(coin|pickup|pick up|collect|gem|ding|bell|chime|correct|reward)\b/, 'pickupCoin'],
  [/\b(laser|shoot|shot|zap|pew|gun|fire|blaster|arrow)\b/, 'laserShoot'],
  [/\b(explo\w*|boom|blast|crash|bomb|thunder|destroy\w*)\b/, 'explosion'],
  [/\b(power\w*|level|upgrade|win|victory|heal|magic|spell|bonus|success)\b/, 'powerUp'],
  [/\b(hit|hurt|damage|punch|ouch|lose|fail|wrong|error|die|death|break)\b/, 'hitHurt'],
  [/\b(jump|hop|bounce|boing|leap|spring)\b/, 'jump'],
  [/\b(click|tap|button|tick|tock|key|step|footstep)\b/, 'click'],
  [/\b(blip|select|menu|beep|notification|pop|bubble|message)\b/, 'blipSelect'],
  [/\b(tone|note|hum|buzz|alarm|siren)\b/, 'tone'],
]

/** Generates a short effect: the preset of the description, varied by the seed. */
export function effect(what: string, seed: string, seconds?: number): Samples {
  const random = seeded(`${seed}:${what}`)
  const preset = presets.find(([words]) => words.test(what.toLowerCase()))?.[1] ?? 'blipSelect'
  const samples = withRandom(random.next, () => {
    const params = sfxr.generate(preset, { sample_rate: rate, sound_vol: 0.25 })
    if (random.chance(0.7)) params.mutate()
    // Otherwise the effect ends early, when its pitch leaves the range.
    params.p_freq_limit = 0
    const now = secondsOf(params)
    if (seconds !== undefined || now < shortest) stretch(params, (seconds ?? shortest) / now)
    return sfxr.toBuffer(params)
  })
  const length = Math.min(samples.length, Math.round((seconds ?? 10) * rate))
  return { rate, channels: [normalize(Float32Array.from(samples.slice(0, length)))] }
}

type Params = ReturnType<typeof sfxr.generate>

/** Returns the duration of an envelope: each part lasts its square times 100,000 samples. */
function secondsOf({ p_env_attack, p_env_sustain, p_env_decay }: Params): number {
  const samples = (p_env_attack ** 2 + p_env_sustain ** 2 + p_env_decay ** 2) * 100_000
  return Math.max(samples / rate, 0.001)
}

/** Scales the duration of the envelope. */
function stretch(params: Params, times: number): void {
  const factor = Math.sqrt(times)
  params.p_env_attack *= factor
  params.p_env_sustain *= factor
  params.p_env_decay *= factor
}

/** Normalizes to full volume without clipping, and fades out the last `fade` samples. */
export function normalize(samples: Float32Array, fade = 400): Float32Array {
  const loudest = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0.001)
  const end = samples.length - 1
  return samples.map(
    (value, at) => (value / loudest) * 0.85 * (fade > 0 ? Math.min(1, (end - at) / fade) : 1),
  )
}
