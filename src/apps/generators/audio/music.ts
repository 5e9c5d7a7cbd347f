import { type Random, seeded } from '../random.ts'
import { normalize } from './effect.ts'
import type { Samples } from './ogg.ts'

const rate = 44_100

/** A waveform: maps a phase, in cycles, to a sample from -1 to 1. */
type Wave = (phase: number) => number

const square: Wave = (phase) => (phase % 1 < 0.5 ? 0.6 : -0.6)
const narrowSquare: Wave = (phase) => (phase % 1 < 0.25 ? 0.7 : -0.4)
const triangle: Wave = (phase) => 4 * Math.abs((phase % 1) - 0.5) - 1
const sine: Wave = (phase) => Math.sin(phase * Math.PI * 2)

/** A note. Times in seconds, `pan` from -1 (left) to 1 (right). */
interface Note {
  at: number
  seconds: number
  hertz: number
  loud: number
  wave: Wave
  pan: number
}

type Stereo = [left: Float32Array, right: Float32Array]

/** Adds a note with a soft attack and a long release, wrapping around the end of the loop. */
function play(note: Note, [left, right]: Stereo): void {
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
function strike(
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

/** A mood of music, and the words that select it. */
interface Mood {
  words: RegExp
  beatsAMinute: [number, number]
  /** Semitones above the root. */
  scale: number[]
  /** Scale degrees of the chords, one per bar, repeated. */
  chords: [number[], ...number[][]]
  /** Volume of the drums, from 0 to 1. */
  drums: number
  lead: Wave
}

const major = [0, 2, 4, 5, 7, 9, 11]
const minor = [0, 2, 3, 5, 7, 8, 10]
const dorian = [0, 2, 3, 5, 7, 9, 10]
const phrygian = [0, 1, 3, 5, 7, 8, 10]

const cheerful: Mood = {
  words: /\b(happy|cheerful|fun|bright|upbeat|arcade|menu|title|town|cute|sunny|playful)\b/,
  beatsAMinute: [112, 136],
  scale: major,
  chords: [
    [0, 4, 5, 3],
    [0, 5, 3, 4],
    [0, 3, 0, 4],
  ],
  drums: 0.8,
  lead: narrowSquare,
}

const moods: [Mood, ...Mood[]] = [
  cheerful,
  {
    words: /\b(battle|boss|fight|action|fast|racing|race|chase|intense|rock|metal|war)\b/,
    beatsAMinute: [140, 164],
    scale: minor,
    chords: [
      [0, 5, 6, 4],
      [0, 0, 5, 6],
    ],
    drums: 1,
    lead: square,
  },
  {
    words: /\b(calm|ambient|relax\w*|sleep|peaceful|soft|gentle|ocean|sea|rain|lofi|lo-fi|chill)\b/,
    beatsAMinute: [66, 84],
    scale: major,
    chords: [
      [0, 3, 4, 3],
      [0, 5, 1, 4],
    ],
    drums: 0,
    lead: sine,
  },
  {
    words: /\b(dark|scary|horror|haunted|spooky|cave|dungeon|night|tense|mystery|creepy)\b/,
    beatsAMinute: [76, 96],
    scale: phrygian,
    chords: [
      [0, 1, 0, 6],
      [0, 5, 1, 0],
    ],
    drums: 0.25,
    lead: triangle,
  },
  {
    words: /\b(space|adventure|explore|forest|desert|quest|journey|epic|fantasy|synth\w*)\b/,
    beatsAMinute: [96, 118],
    scale: dorian,
    chords: [
      [0, 3, 6, 4],
      [0, 6, 3, 3],
    ],
    drums: 0.6,
    lead: triangle,
  },
]

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
