import { t } from '../words.ts'
import { create } from './ask.ts'
import type { ControllerLayout, Point } from './pads.ts'

/** Keys that move the stick, for a page on a computer. */
const arrows: Record<string, Point> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
}
/** Tilting the phone this far, in degrees, is all the way. */
const tiltDegrees = 35

const rounded = (value: number): number => Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100

/** The state of all parts. */
export interface Touches {
  keys: number[]
  stick: Point
  tilt: Point
}

/** Draws the parts of a controller on a phone, and reads what the fingers do. */
export class PadSurface {
  readonly state: Touches

  constructor(
    place: HTMLElement,
    layout: ControllerLayout,
    private readonly changed: () => void,
  ) {
    const none = { x: 0, y: 0 }
    this.state = { keys: layout.buttons.map(() => 0), stick: none, tilt: none }
    const canTilt = layout.tilt && 'DeviceOrientationEvent' in window && isSecureContext
    const buttons = create(
      'div',
      layout.buttons.map((name, at) => this.#button(name, at)),
    )
    buttons.className = 'buttons'
    const parts = [
      // A phone that cannot sense its tilt has a stick for it.
      ...(layout.stick || (layout.tilt && !canTilt)
        ? [this.#stick((at) => this.#point(layout.stick ? 'stick' : 'tilt', at))]
        : []),
      ...(canTilt ? [this.#tilt()] : []),
      ...(layout.buttons.length > 0 ? [buttons] : []),
    ]
    place.replaceChildren(...parts)
  }

  #point(name: 'stick' | 'tilt', { x, y }: Point): void {
    const point = { x: rounded(x), y: rounded(y) }
    const before = this.state[name]
    if (before.x === point.x && before.y === point.y) return
    this.state[name] = point
    this.changed()
  }

  #button(name: string, at: number): HTMLButtonElement {
    const button = create('button', [name], { type: 'button' })
    const set = (isDown: boolean): void => {
      const count = this.state.keys[at] ?? 0
      if ((count % 2 === 1) === isDown) return
      this.state.keys[at] = count + 1
      button.classList.toggle('down', isDown)
      this.changed()
    }
    button.addEventListener('pointerdown', ({ pointerId }) => {
      button.setPointerCapture(pointerId)
      set(true)
    })
    for (const type of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur'])
      button.addEventListener(type, () => set(false))
    for (const type of ['keydown', 'keyup'] as const) {
      button.addEventListener(type, (event) => {
        if (event.key !== ' ' && event.key !== 'Enter') return
        event.preventDefault()
        set(type === 'keydown')
      })
    }
    return button
  }

  #stick(move: (at: Point) => void): HTMLElement {
    const knob = create('i', [])
    const stick = create('div', [knob], { className: 'stick', tabIndex: 0 })
    stick.setAttribute('role', 'application')
    stick.setAttribute('aria-label', t('Stick. Use the arrow keys.'))
    const set = ({ x, y }: Point): void => {
      knob.style.transform = `translate(${x * 60}%, ${y * 60}%)`
      move({ x, y })
    }
    const drag = (event: PointerEvent): void => {
      const { left, top, width, height } = stick.getBoundingClientRect()
      const x = (2 * (event.clientX - left)) / width - 1
      const y = (2 * (event.clientY - top)) / height - 1
      const far = Math.max(1, Math.hypot(x, y))
      set({ x: x / far, y: y / far })
    }
    stick.addEventListener('pointerdown', (event) => {
      stick.setPointerCapture(event.pointerId)
      drag(event)
    })
    stick.addEventListener('pointermove', (event) => {
      if (stick.hasPointerCapture(event.pointerId)) drag(event)
    })
    const release = (): void => set({ x: 0, y: 0 })
    for (const type of ['pointerup', 'pointercancel', 'lostpointercapture', 'blur'])
      stick.addEventListener(type, release)
    const held = new Set<string>()
    for (const type of ['keydown', 'keyup'] as const) {
      stick.addEventListener(type, (event) => {
        if (!Object.hasOwn(arrows, event.key)) return
        event.preventDefault()
        if (type === 'keydown') held.add(event.key)
        else held.delete(event.key)
        const all = [...held].flatMap((key) => arrows[key] ?? [])
        const sum = { x: 0, y: 0 }
        for (const { x, y } of all) {
          sum.x += x
          sum.y += y
        }
        set(sum)
      })
    }
    return stick
  }

  /** Some phones ask their owner before they tell of the tilt, after a press alone. */
  #tilt(): HTMLElement {
    const start = create('button', [t('Turn on tilt')], { type: 'button', className: 'tilt' })
    start.addEventListener('click', async () => {
      const ask: unknown = Reflect.get(DeviceOrientationEvent, 'requestPermission')
      const permission =
        typeof ask === 'function' ? await ask.call(DeviceOrientationEvent) : 'granted'
      if (permission !== 'granted') return void (start.textContent = t('Tilt is off'))
      start.textContent = t('Tilt is on')
      addEventListener('deviceorientation', ({ beta, gamma }) => {
        const turned = screen.orientation?.angle ?? 0
        const [across, along] = [(gamma ?? 0) / tiltDegrees, (beta ?? 0) / tiltDegrees]
        const isSide = turned === 90 || turned === 270
        const sign = turned === 270 ? -1 : 1
        this.#point(
          'tilt',
          isSide ? { x: along * sign, y: -across * sign } : { x: across, y: along },
        )
      })
    })
    return start
  }
}
