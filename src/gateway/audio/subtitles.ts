import { asString, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'

/** Formats of subtitles, with their media types. */
export const subtitleTypes = { srt: 'application/x-subrip', vtt: 'text/vtt' } as const
export type SubtitleFormat = keyof typeof subtitleTypes

export const isSubtitles = (format: string): format is SubtitleFormat =>
  Object.hasOwn(subtitleTypes, format)

interface Cue {
  start: number
  end: number
  text: string
}

/**
 * Returns a transcription as subtitles, a cue for each segment of the upstream. One without
 * segments is one cue. `seconds`: the length of the audio.
 */
export function toSubtitles(response: Json, format: SubtitleFormat, seconds: number): string {
  const cues = cuesOf(response, seconds)
  if (format === 'vtt') {
    const blocks = cues.map(
      ({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${text}\n`,
    )
    return ['WEBVTT\n', ...blocks].join('\n')
  }
  return cues
    .map(
      ({ start, end, text }, at) =>
        `${at + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text}\n`,
    )
    .join('\n')
}

function cuesOf({ text, segments, duration }: Json, seconds: number): Cue[] {
  const cues = recordsIn(segments).flatMap((segment): Cue[] => {
    const { start, end, text: words } = recordOf(segment)
    const isTimed = typeof start === 'number' && typeof end === 'number' && end >= start
    return isTimed ? [{ start, end, text: lineOf(words) }] : []
  })
  if (cues.length > 0) return cues
  return [{ start: 0, end: typeof duration === 'number' ? duration : seconds, text: lineOf(text) }]
}

/** A blank line ends a cue. */
const lineOf = (text: unknown): string =>
  asString(text)
    .trim()
    .replace(/\s*\n\s*/g, '\n')

/** Formats seconds as 00:00:01.500. */
function clock(seconds: number, point: string): string {
  const ms = Math.round(Math.max(0, seconds) * 1_000)
  const parts = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  return `${parts.join(':')}${point}${String(ms % 1_000).padStart(3, '0')}`
}
