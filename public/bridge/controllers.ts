import { field } from '../frame/messages.ts'
import type { Bridge, RunningCall } from './bridge.ts'
import type { ControllerEvent, ControllerLayout } from './pads.ts'
import { tellAll } from './room.ts'
import type { ControllerInput } from './service-types.ts'

/** The events of controllers, with what their listeners get. */
interface Events {
  join: { player: number }
  leave: { player: number }
  input: ControllerInput
}

type Listeners = { [Type in keyof Events]: Set<(event: Events[Type]) => void> }

/** The first event is null: the code is there. */
const isEvent = (event: unknown): event is ControllerEvent =>
  typeof field(event, 'type') === 'string'

const atRest = { x: 0, y: 0 }

/** The phones that control this page. */
class Controllers {
  readonly #players = new Map<number, ControllerInput>()
  readonly #listeners: Listeners = { join: new Set(), leave: new Set(), input: new Set() }
  running: RunningCall<undefined> | undefined

  constructor(
    /** Ends the code: all phones leave. */
    readonly close: () => void,
  ) {}

  /** The controllers, with what each does now. */
  get players(): ControllerInput[] {
    return [...this.#players.values()]
  }

  on<Type extends keyof Events>(type: Type, listener: (event: Events[Type]) => void): () => void {
    const all = this.#listeners[type]
    all.add(listener)
    return () => void all.delete(listener)
  }

  /** Shows the code above the page, as the first call does. */
  show(): void {
    this.running?.send('show')
  }

  hide(): void {
    this.running?.send('hide')
  }

  take(event: ControllerEvent): void {
    if (event.type === 'input') {
      this.#players.set(event.player, event)
      return tellAll(this.#listeners.input, event)
    }
    const { type, player } = event
    if (type === 'leave') this.#players.delete(player)
    else
      this.#players.set(player, { player, buttons: {}, pressed: [], stick: atRest, tilt: atRest })
    tellAll(this.#listeners[type], { player })
  }
}

/** `service.room.controller`: phones as the controllers of a page on a large screen. */
export function openControllers(call: Bridge) {
  let opened: Promise<Controllers> | undefined
  const open = (layout: Partial<ControllerLayout>): Promise<Controllers> =>
    new Promise((resolve, reject) => {
      const end = new AbortController()
      const forget = (): void => void (opened = undefined)
      const controllers = new Controllers(() => {
        forget()
        end.abort()
      })
      const onEvent = (event: unknown): void => {
        if (isEvent(event)) controllers.take(event)
        resolve(controllers)
      }
      const options = { onEvent, signal: end.signal }
      controllers.running = call<undefined>('room.controller', layout, options)
      controllers.running.result.catch((error: unknown) => {
        forget()
        reject(error)
      })
    })
  /**
   * Shows a code with which phones become controllers of this page. A page has one code, until
   * `close` or its end.
   */
  return (layout: Partial<ControllerLayout> = {}): Promise<Controllers> => (opened ??= open(layout))
}
