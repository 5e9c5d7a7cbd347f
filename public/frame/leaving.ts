import { listen } from './listen.ts'
import { field } from './messages.ts'
import { put } from './quiet.ts'

/** Runs the listeners and handlers of the page for an event, as if it were left. */
const leave = (event: Event): boolean => window.dispatchEvent(event)

/** Makes unload handlers run at pagehide: a page of a foreign origin gets no unload. */
function unloads(): void {
  for (const name of ['addEventListener', 'removeEventListener'] as const) {
    const real = window[name]
    put(window, name, (type: string, ...rest: unknown[]): void =>
      Reflect.apply(real, window, [type === 'unload' ? 'pagehide' : type, ...rest]),
    )
  }
  let handler: unknown = null
  const call = (event: Event): void => {
    if (typeof handler === 'function') handler.call(window, event)
  }
  listen('pagehide', call)
  Object.defineProperty(window, 'onunload', {
    get: () => handler,
    set: (given: unknown) => void (handler = given),
    configurable: true,
  })
}

/**
 * Lets a page save before it is left. The messages of a page that is gone are lost, and its own
 * pagehide comes that late. So pagehide runs at beforeunload, which comes while the viewer still
 * listens. Before the viewer restarts the app, it sends "service:leave".
 */
export function leaving(shell: Window): void {
  const hide = (): void => {
    leave(new PageTransitionEvent('pagehide', { persisted: false }))
  }
  const soon = queueMicrotask.bind(window)
  unloads()
  listen('beforeunload', hide)
  const take = (event: MessageEvent): void => {
    if (event.source !== shell || field(event.data, 'type') !== 'service:leave') return
    event.stopImmediatePropagation()
    leave(new Event('beforeunload', { cancelable: true }))
    // The storage sends its changes in a microtask, which is before this one.
    soon(() => shell.postMessage({ type: 'service:left' }, '*'))
  }
  listen('message', take, { capture: true })
}
