/** The page of a phone that is a controller. The app itself does not run here. */
import { field } from '../frame/messages.ts'
import { t } from '../words.ts'
import { findPlayer, join } from './agreement.ts'
import { LiveConnection } from './live.ts'
import { PadSurface } from './pad-surface.ts'
import { type ControllerLayout, controllersMax, readLayout, roomOf } from './pads.ts'
import { CallError } from './protocol.ts'
import { JoinedRoom } from './room.ts'
import type { RoomPeer } from './service-types.ts'

/** A screen that is away this long, such as one that is reloaded, has ended its code. */
const awayMs = 10_000
/** A code that no screen has. */
const unknownMs = 4_000

const { app = '' } = document.documentElement.dataset
const form = document.querySelector('form')
const code = document.querySelector('input')
const status = document.getElementById('status')
const who = document.getElementById('player')
const surface = document.getElementById('pad')

const showMessage = (text: string): void => {
  if (status) status.textContent = text
}

/** The page that has the code, as its presence says it. */
interface Screen {
  layout: ControllerLayout
  players: unknown
}

function screenIn(peers: readonly RoomPeer[]): Screen | undefined {
  for (const { presence, isMe } of peers) {
    const parts = field(presence, 'screen')
    if (isMe || parts === undefined) continue
    try {
      return { layout: readLayout(parts), players: field(presence, 'players') }
    } catch {
      // Another page of the app made it up.
    }
  }
  return undefined
}

/** Shows which player this is. The states of all phones pass here, so most calls change nothing. */
function name(text: string, player: number): void {
  if (!who || who.textContent === text) return
  who.textContent = text
  who.dataset['player'] = String(player)
}

/** Shows the form or the controller. */
function showPad(isOn: boolean): void {
  if (form) form.hidden = isOn
  for (const part of [surface, who]) if (part) part.hidden = !isOn
}

/** Is the controller of a screen, until the screen ends its code. */
class Controller {
  readonly #room: JoinedRoom
  readonly #joined: ReturnType<LiveConnection['join']>
  readonly #pad = crypto.getRandomValues(new Uint32Array(2)).join('-')
  #surface: PadSurface | undefined
  #drawn = ''
  #timer = 0

  constructor(live: LiveConnection, room: string) {
    this.#room = new JoinedRoom(room, () => undefined)
    const fail = ({ message }: CallError): void => this.#end(message)
    const event = (change: unknown): void => this.#room.take(change)
    this.#joined = live.join(room, null, { event, fail })
    this.#room.onPeers(({ peers }) => this.#see(screenIn(peers)))
  }

  #see(screen: Screen | undefined): void {
    if (!screen) return this.#miss()
    clearTimeout(this.#timer)
    this.#timer = 0
    this.#draw(screen.layout)
    const number = Number(field(screen.players, this.#room.peer) ?? 0)
    const isFull = Object.keys(Object(screen.players)).length >= controllersMax
    const waiting = isFull
      ? t('All {max} places are taken', { max: controllersMax })
      : t('Connecting …')
    name(number > 0 ? t('Player {number}', { number }) : waiting, number)
  }

  /** Waits for the screen, which may connect again. */
  #miss(): void {
    if (this.#timer !== 0) return
    const isNew = this.#drawn === ''
    if (!isNew) name(t('The screen is away …'), 0)
    const text = t(
      isNew
        ? 'No screen has this code. Check it, and try again.'
        : 'The screen has ended its code. Enter a new one.',
    )
    this.#timer = window.setTimeout(() => this.#end(text), isNew ? unknownMs : awayMs)
  }

  #draw(layout: ControllerLayout): void {
    const text = JSON.stringify(layout)
    if (!surface || text === this.#drawn) return
    this.#drawn = text
    this.#surface = new PadSurface(surface, layout, () => this.#send())
    showMessage('')
    showPad(true)
    this.#send()
  }

  #send(): void {
    this.#joined.setPresence({ pad: this.#pad, ...this.#surface?.state })
  }

  #end(message: string): void {
    clearTimeout(this.#timer)
    this.#joined.leave()
    showPad(false)
    showMessage(message)
  }
}

let live: LiveConnection | undefined

async function connect(room: string): Promise<void> {
  showMessage(t('Connecting …'))
  try {
    // The press on the form, whose text says it, is the agreement.
    const { agreed } = await findPlayer({ app })
    if (!agreed.includes('room')) await join(app, { uses: ['room'] })
    live ??= new LiveConnection(app)
    new Controller(live, room)
  } catch (error) {
    showMessage(
      error instanceof CallError ? error.message : t('The server did not answer. Try again.'),
    )
  }
}

form?.addEventListener('submit', (event) => {
  event.preventDefault()
  void connect(roomOf(code?.value.trim().toUpperCase() ?? ''))
})
// A long press opens no menu.
addEventListener('contextmenu', (event) => {
  if (event.target !== code) event.preventDefault()
})
