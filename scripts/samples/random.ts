/**
 * A seeded source of numbers in [0, 1) (mulberry32), so that every generated file is the same
 * everywhere.
 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Smooth value noise over the plane, between -1 and 1, the same for the same seed. */
export function noise(seed: number): (x: number, y: number) => number {
  const corner = (x: number, y: number) => {
    const mixed = Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(seed, 974634537)
    return seeded(mixed)() * 2 - 1
  }
  const ease = (t: number) => t * t * (3 - 2 * t)
  return (x, y) => {
    const [left, top] = [Math.floor(x), Math.floor(y)]
    const [u, v] = [ease(x - left), ease(y - top)]
    const above = corner(left, top) * (1 - u) + corner(left + 1, top) * u
    const below = corner(left, top + 1) * (1 - u) + corner(left + 1, top + 1) * u
    return above * (1 - v) + below * v
  }
}
