import { listen } from './listen.ts'
import { put } from './quiet.ts'

/** Time after a press in which code that asks belongs to it, for example after an await. */
const pressMs = 1_000

type Repeat = () => void

let ran = (): void => undefined

/** Calls the listener after each timer and frame of the page. */
export const onRun = (listener: () => void): void => void (ran = listener)

/** Events in which a page starts. */
const starts = /^(?:load|DOMContentLoaded|readystatechange|pageshow)$/

/** Returns an event that dispatches again as this one did. */
const copied = (event: Event): Event => {
  const construct: unknown = event.constructor
  return typeof construct === 'function'
    ? Reflect.construct(construct, [event.type, event])
    : new Event(event.type, event)
}

/**
 * Watches which timer, frame or event runs. The returned function gives what repeats the running
 * code: 'page' for code that runs while the page loads, undefined where nothing is known of it.
 */
export function watchCallers(): () => Repeat | 'page' | undefined {
  let running: Repeat | undefined
  let press: { repeat: Repeat; at: number } | undefined

  const watched = (callback: unknown): unknown => {
    if (typeof callback !== 'function') return callback
    return function run(this: unknown, ...given: unknown[]): unknown {
      const before = running
      running = () => void Reflect.apply(run, this, given)
      try {
        return Reflect.apply(callback, this, given)
      } finally {
        running = before
        ran()
      }
    }
  }
  for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame'] as const) {
    const real = window[name]
    put(window, name, (callback: unknown, ...rest: unknown[]): number =>
      Reflect.apply(real, window, [watched(callback), ...rest]),
    )
  }
  const remember = (event: Event): void => {
    const { target } = event
    if (!event.isTrusted || !target) return
    press = { repeat: () => void target.dispatchEvent(copied(event)), at: performance.now() }
  }
  listen('click', remember, { capture: true })
  listen('keydown', remember, { capture: true })

  return () => {
    if (running) return running
    const event = window.event
    if (event ? starts.test(event.type) : document.readyState !== 'complete') return 'page'
    const target = event?.target
    if (event && target) return () => void target.dispatchEvent(copied(event))
    return press && performance.now() - press.at < pressMs ? press.repeat : undefined
  }
}
