import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { findUses, UseSchema } from '../apps/uses/uses.ts'
import { bigPage } from './fixtures/big-page.ts'

/**
 * The rules of the puzzle Slack Tide, and a solver that proves its levels.
 *
 * Rows of a level: `#` rock, `.` water, `~` kelp (stops whatever drifts onto it), `a`-`d` boats,
 * `A`-`D` their berths, `w` driftwood. One move: the tide carries everything that floats one way
 * until something stops it. A boat that comes to rest on a berth of its own letter is moored for
 * good and stands in the way of the others.
 */
interface Sea {
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
function readSea(rows: readonly string[]): Sea {
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

/** Returns the positions after the tide has run `way`: the foremost moves first. */
function drift(sea: Sea, places: Places, way: Direction): Places {
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

/** Returns whether every boat is moored. */
function isHome(sea: Sea, places: Places): boolean {
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
function solve(sea: Sea): { way: Direction[]; seen: number } | undefined {
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

const FOLDER = join(import.meta.dir, '../../public/samples')
const HTML_BYTES_MAX = 120 * 1024
const ASSET_BYTES_MAX = 200 * 1024

const AssetName = Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' })
const Sample = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 80 }),
    description: Type.String({ minLength: 1, maxLength: 500 }),
    kind: Type.Union([Type.Literal('app'), Type.Literal('game')]),
    shelf: Type.String({
      pattern: '^(arcade|puzzle|adventure|sim|tools|learn|art|music|data|writing|social|other)$',
    }),
    uses: Type.Optional(Type.Array(UseSchema)),
    assets: Type.Array(AssetName),
  },
  { additionalProperties: false },
)
const AssetAsks = Type.Array(
  Type.Object(
    {
      name: AssetName,
      kind: Type.Union(
        ['sprite', 'picture', 'sound', 'voice', 'music'].map((k) => Type.Literal(k)),
      ),
      what: Type.String({ minLength: 1, maxLength: 400 }),
      seconds: Type.Optional(Type.Number({ minimum: 0.1, maximum: 60 })),
      width: Type.Optional(Type.Integer({ minimum: 1 })),
      height: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    { additionalProperties: false },
  ),
)
const Levels = Type.Array(
  Type.Object({
    name: Type.String({ minLength: 1 }),
    par: Type.Integer({ minimum: 1 }),
    rows: Type.Array(Type.String({ pattern: '^[.#~a-dA-Dw]+$' }), { minItems: 3 }),
  }),
)

const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
const pageOf = (name: string) => readFileSync(join(FOLDER, name, 'index.html'), 'utf8')

/** Returns the JSON in the page's data block with this attribute. */
function dataIn(html: string, attribute: string): unknown {
  const opening = `<script type="application/json" ${attribute}>`
  const from = html.indexOf(opening)
  if (from < 0) throw new Error(`no ${attribute} in the page`)
  return JSON.parse(html.slice(from + opening.length, html.indexOf('</script>', from)))
}

/** Returns whether the bytes match the type in their name: PNG or RIFF WAVE. */
function isTyped(name: string, bytes: Buffer): boolean {
  if (name.endsWith('.png')) return bytes.subarray(1, 4).toString('latin1') === 'PNG'
  return name.endsWith('.ogg') && bytes.subarray(0, 4).toString('latin1') === 'OggS'
}

test('there are five samples: games, a tool, one with a model and one for many', () => {
  const shelves = names.map((name) => {
    const text = readFileSync(join(FOLDER, name, 'sample.json'), 'utf8')
    return Value.Parse(Sample, JSON.parse(text)).shelf
  })
  expect(shelves.sort()).toEqual(['adventure', 'arcade', 'art', 'puzzle', 'tools'])
})

for (const name of names) {
  describe(name, () => {
    const html = pageOf(name)
    const meta = Value.Parse(
      Sample,
      JSON.parse(readFileSync(join(FOLDER, name, 'sample.json'), 'utf8')),
    )

    test('is one complete page below the size limit', () => {
      expect(Buffer.byteLength(html)).toBeLessThan(HTML_BYTES_MAX)
      expect(html).toStartWith('<!doctype html>\n<html lang="en">')
      expect(html).toContain('<meta name="viewport"')
      expect(html).toContain(`<title>${meta.title}</title>`)
      expect(html.trimEnd()).toEndWith('</html>')
    })

    test('has no external references and evaluates no text', () => {
      expect(html.match(/\b(?:https?|wss?):|\/\/[a-z0-9-]+\.[a-z]/gi)).toBeNull()
      expect(html.match(/\s(?:src|href|action|srcset|poster|data)\s*=\s*["']/gi)).toBeNull()
      expect(html.match(/@import|url\(|\beval\b|\bFunction\(|\bimport\(|\bfetch\(/g)).toBeNull()
      expect(html.match(/XMLHttpRequest|WebSocket|EventSource|sendBeacon/g)).toBeNull()
    })

    test('has nothing that the sandbox fallback rewrites', () => {
      expect(html.match(/<\/?(?:link|base|i?frame|frameset|object|embed|portal)\b/gi)).toBeNull()
    })

    test('handles a missing service and localStorage', () => {
      expect(html).toContain("typeof service === 'undefined'")
      const uses = html.split('\n').filter((line) => line.includes('localStorage'))
      expect(uses.length).toBeGreaterThan(0)
      for (const line of uses) expect(line).toContain('try {')
    })

    test('says which parts of service it uses', () => {
      expect(findUses(html).service).toEqual([...(meta.uses ?? [])])
    })

    test('declares exactly the assets in its folder', () => {
      const asks = Value.Parse(AssetAsks, dataIn(html, 'data-assets'))
      const folder = join(FOLDER, name, 'assets')
      const files = existsSync(folder) ? readdirSync(folder).sort() : []
      expect(asks.map((ask) => ask.name).sort()).toEqual(files)
      expect([...meta.assets].sort()).toEqual(files)
      for (const file of files) {
        const bytes = readFileSync(join(FOLDER, name, 'assets', file))
        expect(bytes.length).toBeLessThan(ASSET_BYTES_MAX)
        expect({ file, typed: isTyped(file, bytes) }).toEqual({ file, typed: true })
      }
    })
  })
}

describe('the levels of Slack Tide', () => {
  const levels = Value.Parse(Levels, dataIn(pageOf('slack-tide'), 'id="levels"'))

  test('are at least 20 different ones', () => {
    expect(levels.length).toBeGreaterThanOrEqual(20)
    expect(new Set(levels.map((level) => level.rows.join())).size).toBe(levels.length)
    expect(new Set(levels.map((level) => level.name)).size).toBe(levels.length)
  })

  for (const level of levels) {
    test(`${level.name} has a solution, and its par is the minimum of moves`, () => {
      const sea = readSea(level.rows)
      expect(new Set(level.rows.map((row) => row.length)).size).toBe(1)
      const boats = sea.floats.filter((float) => float !== 'w')
      const berths = sea.cells.filter((cell) => /[A-D]/.test(cell))
      expect(boats.map((boat) => boat.toUpperCase()).sort()).toEqual([...berths].sort())
      const found = solve(sea)
      expect(found?.way.length).toBe(level.par)
      const end = (found?.way ?? []).reduce((at, way) => drift(sea, at, way), sea.start)
      expect(isHome(sea, end)).toBe(true)
    })
  }

  test('the solver detects a level without a solution', () => {
    expect(solve(readSea(['a.#A', '..#.', '..#.']))).toBeUndefined()
  })
})

test('the big page is just under 4 MB and always the same', () => {
  const page = bigPage()
  const bytes = Buffer.byteLength(page)
  expect(bytes).toBeLessThan(4 * 1024 * 1024)
  expect(bytes).toBeGreaterThan(4 * 1024 * 1024 - 256)
  expect(bigPage()).toBe(page)
  const stars = Value.Parse(Type.Array(Type.Array(Type.Number())), dataIn(page, 'id="stars"'))
  expect(stars.length).toBeGreaterThan(50_000)
})
