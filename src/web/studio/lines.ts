/** A line is shown in at most so many characters, beginning so many before what matters in it. */
const shownMax = 240
const leadMax = 40

/** A line as it is shown; a long one around the place that matters. */
export function cut(text: string, at: number): string {
  if (text.length <= shownMax) return text
  const start = Math.min(Math.max(0, at - leadMax), text.length - shownMax)
  const end = start + shownMax
  const shown = text.slice(start, end).toWellFormed()
  return `${start > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`
}

/** How many characters two lines begin with in common. */
export function common(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one[at] === other[at]) at += 1
  return at
}
