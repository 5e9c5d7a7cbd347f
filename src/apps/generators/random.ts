/** A deterministic random generator. */
export interface Random {
  /** A number from 0 to 1, excluding 1. */
  next(): number
  between(low: number, high: number): number
  /** An integer from `low` to `high`, inclusive. */
  whole(low: number, high: number): number
  chance(share: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
}

/** Returns sfc32 (Chris Doty-Humphrey, PractRand), seeded with four hashes of `seed`. */
export function seeded(seed: string): Random {
  const state = [1, 2, 3, 4].map((salt) => Bun.hash.murmur32v3(seed, salt) | 0)
  let [a = 0, b = 0, c = 0, counter = 0] = state
  const next = (): number => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return (sum >>> 0) / 4_294_967_296
  }
  for (let warm = 0; warm < 12; warm += 1) next()
  const between = (low: number, high: number): number => low + next() * (high - low)
  return {
    next,
    between,
    whole: (low, high) => Math.floor(between(low, high + 1)),
    chance: (share) => next() < share,
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
  }
}
