import { narrowSquare, sine, square, triangle, type Wave } from './synth.ts'

/** A mood of music, and the words that select it. */
export interface Mood {
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

export const moods: [Mood, ...Mood[]] = [
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
