/** The numbers of a version, and whether it is a preview such as "1.0.0-beta.1". */
interface Version {
  numbers: [major: number, minor: number, patch: number]
  isPreview: boolean
}

const pattern = /^[v=\s]*(\d{1,9})(?:\.(\d{1,9}|[x*]))?(?:\.(\d{1,9}|[x*]))?(-[\w.-]+)?/

function parseVersion(text: string): Version | undefined {
  const found = pattern.exec(text)
  if (!found) return undefined
  const [, major = '0', minor = '0', patch = '0', preview] = found
  const numbers = [major, minor, patch].map((part) => Number(part) || 0)
  const [a = 0, b = 0, c = 0] = numbers
  return { numbers: [a, b, c], isPreview: preview !== undefined }
}

/** Orders versions, newest first. Previews come after all others. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [parseVersion(left), parseVersion(right)]
  if (!a || !b) return Number(Boolean(b)) - Number(Boolean(a))
  if (a.isPreview !== b.isPreview) return a.isPreview ? 1 : -1
  const [x, y] = [a.numbers, b.numbers]
  return y[0] - x[0] || y[1] - x[1] || y[2] - x[2]
}

const isNewest = (range: string): boolean => /^(?:|\*|x|latest|next)$/.test(range)

/** Returns how many leading numbers a range fixes: 1 for "^18.2" and "18", 3 for "18.2.0". */
function fixedNumbers(range: string): number {
  const given = range.replace(/^[\^~>=v\s]+/, '').split(/[.-]/, 3)
  const whole = given.filter((part) => /^\d+$/.test(part)).length
  if (/^\^/.test(range)) return given[0] === '0' ? Math.min(2, whole) : 1
  if (/^~/.test(range)) return Math.min(2, whole)
  return /^>=/.test(range) ? 0 : whole
}

/** Returns whether a version has the numbers that one alternative of a range fixes. */
function isWithin(version: string, alternative: string): boolean {
  const requested = parseVersion(alternative.replace(/^[\s^~>=]+/, ''))?.numbers
  if (!requested) return false
  const fixed = fixedNumbers(alternative.trim())
  const own = parseVersion(version)?.numbers ?? [0, 0, 0]
  return own.slice(0, fixed).join() === requested.slice(0, fixed).join()
}

/**
 * Picks a version for an npm range, newest first. `isExact` is false where the range excludes it:
 * then it is the nearest version with the same major number, at or above the requested one if any.
 * From the major number `compatibleFrom` on, the newest version stands for all others.
 */
export function pickVersion(
  versions: readonly string[],
  range: string,
  compatibleFrom = Infinity,
): { version: string; isExact: boolean } | undefined {
  const newestFirst = versions.toSorted(compareVersions)
  const [newest] = newestFirst
  if (newest === undefined) return undefined
  if (isNewest(range)) return { version: newest, isExact: true }
  if (newestFirst.includes(range)) return { version: range, isExact: true }
  const match = newestFirst.find((version) =>
    // Of "1.9.1 - 3" the last part decides.
    range.split('||').some((one) => isWithin(version, one.replace(/^.*\s-\s/, ''))),
  )
  if (match !== undefined) return { version: match, isExact: true }
  const near =
    nearest(newestFirst, range) ?? (majorOf(range) >= compatibleFrom ? newest : undefined)
  return near === undefined ? undefined : { version: near, isExact: false }
}

/** Returns the major number that a range names, or NaN. */
const majorOf = (range: string): number =>
  parseVersion(range.replace(/^[\s^~>=]+/, ''))?.numbers[0] ?? NaN

/** Returns the nearest version with the same major number: the next above, else the last below. */
function nearest(newestFirst: readonly string[], range: string): string | undefined {
  const requested = range.replace(/^[\s^~>=]+/, '')
  const major = majorOf(range)
  const same = newestFirst.filter((version) => parseVersion(version)?.numbers[0] === major)
  return same.findLast((version) => compareVersions(version, requested) <= 0) ?? same[0]
}
