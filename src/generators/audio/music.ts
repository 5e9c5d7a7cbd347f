import { type Random, seeded } from '../random.ts'
import { normalize } from './effect.ts'
import { type Mood, moods } from './moods.ts'
import type { Samples } from './ogg.ts'
import { type Note, play, rate, type Stereo, strike, triangle } from './synth.ts'

const stepsABar = 16
const secondsDefault = 16

/** The constants of a piece. Times in seconds, pitches in hertz. */
interface Score {
  mood: Mood
  root: number
  chords: number[]
  bars: number
  step: number
}

/** Generates a seamless loop: melody, broken chords, bass and drums in one mood. */
export function music(what: string, seed: string, seconds = secondsDefault): Samples {
  const random = seeded(`${seed}:${what}`)
  const mood = moods.find(({ words }) => words.test(what.toLowerCase())) ?? random.pick(moods)
  const bars = Math.max(1, Math.round((seconds * random.between(...mood.beatsAMinute)) / 240))
  const root = 220 * 2 ** (random.whole(0, 6) / 12)
  const step = seconds / (bars * stepsABar)
  const score = { mood, root, chords: random.pick(mood.chords), bars, step }
  const length = Math.round(seconds * rate)
  const sound: Stereo = [new Float32Array(length), new Float32Array(length)]
  for (const note of [...melody(score, random), ...harmony(score)]) play(note, sound)
  drums(score, random, sound)
  return { rate, channels: [normalize(sound[0], 0), normalize(sound[1], 0)] }
}

const chordAt = ({ chords }: Score, bar: number): number => chords[bar % chords.length] ?? 0

const hertzOf = ({ mood, root }: Score, degree: number): number => {
  const inScale = mood.scale[((degree % 7) + 7) % 7] ?? 0
  return root * 2 ** ((inScale + Math.floor(degree / 7) * 12) / 12)
}

interface MelodyNote {
  at: number
  long: number
  degree: number
}

/** Generates two bars: a random walk on the scale, with rests. */
function phrase(random: Random): MelodyNote[] {
  const notes: MelodyNote[] = []
  let degree = random.whole(5, 9)
  for (let at = 0; at < stepsABar * 2;) {
    const long = random.pick([2, 2, 2, 4, 4, 6])
    degree = Math.max(3, Math.min(14, degree + random.whole(-2, 2)))
    if (random.chance(0.82)) notes.push({ at, long, degree })
    at += long
  }
  return notes
}

/** Returns two phrases in the order A A B A. Strong beats use notes of the chord. */
function melody(score: Score, random: Random): Note[] {
  const [first, second] = [phrase(random), phrase(random)]
  const notes: Note[] = []
  for (let bar = 0; bar < score.bars; bar += 2) {
    for (const { at, long, degree } of bar % 8 === 4 ? second : first) {
      const place = bar * stepsABar + at
      if (place >= score.bars * stepsABar) continue
      const strong = at % 8 === 0
      const chord = chordAt(score, Math.floor(place / stepsABar))
      const hertz = hertzOf(score, strong ? chord + 7 + (degree % 3) * 2 : degree)
      const seconds = long * score.step
      notes.push({
        at: place * score.step,
        seconds,
        hertz,
        loud: 0.2,
        wave: score.mood.lead,
        pan: 0.12,
      })
    }
  }
  return notes
}

/** Returns the notes of each chord in sequence, with the bass below. */
function harmony(score: Score): Note[] {
  const broken = [0, 2, 4, 2]
  return Array.from({ length: score.bars }, (_, bar): Note[] => {
    const chord = chordAt(score, bar)
    const tone = (step: number, long: number, degree: number, lower: number): Note => ({
      at: (bar * stepsABar + step) * score.step,
      seconds: long * score.step,
      hertz: hertzOf(score, degree) / lower,
      loud: lower === 1 ? 0.1 : 0.26,
      wave: triangle,
      pan: lower === 1 ? -0.25 : 0,
    })
    const high = Array.from({ length: 8 }, (_, at) =>
      tone(at * 2, 2, chord + (broken[at % 4] ?? 0), 1),
    )
    const low = [0, 1, 2, 3].map((beat) => tone(beat * 4, 3.4, beat === 3 ? chord + 4 : chord, 4))
    return [...high, ...low]
  }).flat()
}

const kick = { seconds: 0.16, noise: 0.05, hertz: 140, loud: 0.5 }
const snare = { seconds: 0.14, noise: 0.8, hertz: 190, loud: 0.22 }
const hat = { seconds: 0.04, noise: 1, hertz: 0, loud: 0.09 }

function drums({ mood, bars, step }: Score, random: Random, sound: Stereo): void {
  if (mood.drums === 0) return
  for (let at = 0; at < bars * stepsABar; at += 2) {
    const place = at % stepsABar
    const beat = place % 8 === 0 ? kick : place % 8 === 4 ? snare : undefined
    if (beat) strike(at * step, { ...beat, loud: beat.loud * mood.drums }, sound, random)
    if (random.chance(mood.drums)) strike(at * step, hat, sound, random)
  }
}
