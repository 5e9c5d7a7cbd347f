/** A line is shown in at most so many characters, beginning so many before what matters in it. */
const lineCharsMax = 240
const leadCharsMax = 40

/** A line as it is shown; a long one around the place that matters. */
export function cutLine(text: string, at: number): string {
  if (text.length <= lineCharsMax) return text
  const start = Math.min(Math.max(0, at - leadCharsMax), text.length - lineCharsMax)
  const end = start + lineCharsMax
  const shown = text.slice(start, end).toWellFormed()
  return `${start > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`
}

/** How many characters two lines begin with in common. */
export function commonPrefixLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one[at] === other[at]) at += 1
  return at
}
