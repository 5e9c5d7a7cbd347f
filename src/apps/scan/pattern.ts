/** Joins pieces into one regular expression, for word lists longer than a line. */
export function pattern(flags: string, ...pieces: readonly string[]): RegExp {
  return new RegExp(pieces.join(''), flags)
}
