/**
 * The rules of the puzzle Slack Tide, and a solver that proves its levels.
 *
 * Rows of a level: `#` rock, `.` water, `~` kelp (stops whatever drifts onto it), `a`-`d` boats,
 * `A`-`D` their berths, `w` driftwood. One move: the tide carries everything that floats one way
 * until something stops it. A boat that comes to rest on a berth of its own letter is moored for
 * good and stands in the way of the others.
 */
export interface Sea {
  width: number
  /** One letter a cell; outside is rock. */
  cells: string[]
  /** The letter of each floating thing; its place is at the same index of a `Places`. */
  floats: string[]
  start: Places
}
/** The cell of each floating thing. */
type Places = number[]

const DIRECTIONS = ['up', 'right', 'down', 'left'] as const
type Direction = (typeof DIRECTIONS)[number]
const STATES_MAX = 400_000

/** Reads a level's rows. */
export function readSea(rows: readonly string[]): Sea {
  const width = rows[0]?.length ?? 0
  const letters = rows.join('').split('')
  const found = letters.flatMap((letter, at) => (/[a-dw]/.test(letter) ? [{ letter, at }] : []))
  return {
    width,
    cells: letters.map((letter) => (/[a-dw]/.test(letter) ? '.' : letter)),
    floats: found.map((float) => float.letter),
    start: found.map((float) => float.at),
  }
}

/** The cell beside `at`, or -1 outside. */
function beside(sea: Sea, at: number, way: Direction): number {
  const column = at % sea.width
  if (way === 'left') return column > 0 ? at - 1 : -1
  if (way === 'right') return column < sea.width - 1 ? at + 1 : -1
  const next = way === 'up' ? at - sea.width : at + sea.width
  return next >= 0 && next < sea.cells.length ? next : -1
}

function moored(sea: Sea, float: number, at: number): boolean {
  return sea.cells[at] === sea.floats[float]?.toUpperCase() && sea.floats[float] !== 'w'
}

/** Where everything lies after the tide has run `way`: the foremost moves first. */
export function drift(sea: Sea, places: Places, way: Direction): Places {
  const after = [...places]
  const order = places.map((_, float) => float)
  const forward = way === 'right' || way === 'down' ? -1 : 1
  order.sort((a, b) => forward * ((places[a] ?? 0) - (places[b] ?? 0)))
  for (const float of order) {
    let at = after[float] ?? 0
    if (moored(sea, float, at)) continue
    for (let steps = 0; steps < sea.cells.length; steps++) {
      const next = beside(sea, at, way)
      if (next < 0 || sea.cells[next] === '#' || after.includes(next)) break
      at = next
      after[float] = at
      if (sea.cells[at] === '~') break
    }
  }
  return after
}

/** Whether every boat is moored. */
export function isHome(sea: Sea, places: Places): boolean {
  return places.every((at, float) => sea.floats[float] === 'w' || moored(sea, float, at))
}

/** A state's name; boats of one letter may stand for each other. */
function nameOf(sea: Sea, places: Places): string {
  return places
    .map((at, float) => `${sea.floats[float]}${at}`)
    .sort()
    .join()
}

/**
 * A shortest way home by breadth-first search, with how many states were seen, or undefined
 * when there is none.
 */
export function solve(sea: Sea): { way: Direction[]; seen: number } | undefined {
  const seen = new Set([nameOf(sea, sea.start)])
  let edge: { places: Places; way: Direction[] }[] = [{ places: sea.start, way: [] }]
  while (edge.length > 0 && seen.size < STATES_MAX) {
    const next: typeof edge = []
    for (const state of edge) {
      if (isHome(sea, state.places)) return { way: state.way, seen: seen.size }
      for (const direction of DIRECTIONS) {
        const places = drift(sea, state.places, direction)
        const name = nameOf(sea, places)
        if (seen.has(name)) continue
        seen.add(name)
        next.push({ places, way: [...state.way, direction] })
      }
    }
    edge = next
  }
  return undefined
}
