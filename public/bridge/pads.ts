import { field } from '../frame/messages.ts'
import { CallError } from './protocol.ts'
import type { ControllerInput, RoomPeer } from './service-types.ts'

/** The parts of a controller, which the shell draws on a phone. */
export interface ControllerLayout {
  /** Names of the buttons, in their order. */
  buttons: string[]
  stick: boolean
  tilt: boolean
}

/** A direction: both from -1 to 1, to the right and down. */
export interface Point {
  x: number
  y: number
}

/** An event of the shell for the page that has controllers. */
export type ControllerEvent =
  | { type: 'join'; player: number }
  | { type: 'leave'; player: number }
  | ({ type: 'input' } & ControllerInput)

/** The presence of a phone in the room of the controllers. */
export interface PadState {
  /** The same for a phone that connects again. */
  pad: string
  /** Counts each press and each release of a button: an odd one is down. */
  keys: number[]
  stick: Point
  tilt: Point
}

export const controllersMax = 8
const buttonsMax = 8
const labelCharsMax = 12
const rememberedMax = 64

/** Codes have no letters that look alike. */
const letters = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const codeChars = 5

/** Returns a new code for phones. */
export const newCode = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(codeChars)), (byte) =>
    letters.charAt(byte % letters.length),
  ).join('')

/** Returns the room of the controllers with a code. */
export const roomOf = (code: string): string => `controller/${code}`

/** Reads the parts of a controller. Throws `bad_request`. */
export function readLayout(value: unknown): ControllerLayout {
  const buttons: unknown = field(value, 'buttons') ?? []
  const [stick, tilt] = ['stick', 'tilt'].map((name) => field(value, name) === true)
  const isList = Array.isArray(buttons) && buttons.length <= buttonsMax
  const names = isList ? buttons.filter(isLabel) : []
  if (!isList || names.length < buttons.length || new Set(names).size < names.length) {
    throw new CallError(
      'bad_request',
      `A controller has at most ${buttonsMax} buttons, with different names of 1 to ${labelCharsMax} characters.`,
    )
  }
  if (names.length === 0 && !stick && !tilt) {
    throw new CallError('bad_request', 'A controller has buttons, a stick or tilt.')
  }
  return { buttons: names, stick: stick === true, tilt: tilt === true }
}

const isLabel = (label: unknown): label is string =>
  typeof label === 'string' && label.trim() !== '' && label.length <= labelCharsMax

const axis = (value: unknown): number => Math.max(-1, Math.min(1, Number(value) || 0))
const pointIn = (value: unknown): Point => ({
  x: axis(field(value, 'x')),
  y: axis(field(value, 'y')),
})

function stateIn(presence: unknown): PadState | undefined {
  const [pad, keys] = [field(presence, 'pad'), field(presence, 'keys')]
  if (typeof pad !== 'string' || !Array.isArray(keys)) return undefined
  const [stick, tilt] = [pointIn(field(presence, 'stick')), pointIn(field(presence, 'tilt'))]
  return { pad, keys: keys.slice(0, buttonsMax).map((count) => Number(count) || 0), stick, tilt }
}

interface Pad {
  player: number
  state: PadState
}

/** The phones in the room of a page, with their numbers. */
export class Pads {
  readonly #pads = new Map<string, Pad>()
  /** The numbers of phones that left. */
  readonly #before = new Map<string, number>()

  constructor(
    private readonly layout: ControllerLayout,
    private readonly tell: (event: ControllerEvent) => void,
  ) {}

  get size(): number {
    return this.#pads.size
  }

  /** The presence that phones read: the parts to draw, and the number of each phone. */
  get presence() {
    const numbers = [...this.#pads].map(([peer, { player }]) => [peer, player])
    return { screen: this.layout, players: Object.fromEntries(numbers) }
  }

  /** Takes the pages of the room. Returns whether phones came or left. */
  take(peers: readonly RoomPeer[]): boolean {
    const there = new Map(peers.map(({ peer, presence }) => [peer, stateIn(presence)]))
    const size = this.#pads.size
    const left = [...this.#pads.keys()].filter((peer) => there.get(peer) === undefined)
    for (const peer of left) this.#leave(peer)
    for (const [peer, state] of there) {
      const known = this.#pads.get(peer)
      if (state && known) this.#move(known, state)
      else if (state) this.#join(peer, state)
    }
    return left.length > 0 || this.#pads.size > size
  }

  #join(peer: string, state: PadState): void {
    const taken = new Set([...this.#pads.values()].map(({ player }) => player))
    const before = this.#before.get(state.pad) ?? 0
    const free = Array.from({ length: controllersMax }, (_, at) => at + 1)
    const player = [before, ...free].find((number) => number > 0 && !taken.has(number))
    if (player === undefined) return
    this.#before.delete(state.pad)
    this.#pads.set(peer, { player, state })
    this.tell({ type: 'join', player })
  }

  #leave(peer: string): void {
    const pad = this.#pads.get(peer)
    if (!pad) return
    this.#pads.delete(peer)
    const [oldest] = this.#before.keys()
    if (oldest !== undefined && this.#before.size >= rememberedMax) this.#before.delete(oldest)
    this.#before.set(pad.state.pad, pad.player)
    this.tell({ type: 'leave', player: pad.player })
  }

  #move(pad: Pad, state: PadState): void {
    const before = pad.state
    if (JSON.stringify(before) === JSON.stringify(state)) return
    pad.state = state
    const { buttons } = this.layout
    const downs = (keys: number[], at: number): number => Math.ceil((keys[at] ?? 0) / 2)
    this.tell({
      type: 'input',
      player: pad.player,
      buttons: Object.fromEntries(
        buttons.map((name, at) => [name, (state.keys[at] ?? 0) % 2 === 1]),
      ),
      pressed: buttons.filter((_, at) => downs(state.keys, at) > downs(before.keys, at)),
      stick: state.stick,
      tilt: state.tilt,
    })
  }
}
