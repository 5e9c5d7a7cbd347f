/** A regular expression out of pieces that follow each other: for word lists longer than a line. */
export function pattern(flags: string, ...pieces: readonly string[]): RegExp {
  return new RegExp(pieces.join(''), flags)
}
