import { listen } from './listen.ts'
import { field } from './messages.ts'

/** Replays key events that an outer frame received. Only WebKit needs this. */
export function takeKeys(): void {
  const take = (event: MessageEvent): void => {
    if (field(event.data, 'type') !== 'service:key' || event.source === window) return
    event.stopImmediatePropagation()
    const { of, init } = event.data
    const facts = { ...init, which: init.keyCode, bubbles: true, cancelable: true, composed: true }
    const at = document.activeElement ?? document.documentElement
    at.dispatchEvent(new KeyboardEvent(String(of), facts))
  }
  listen('message', take, { capture: true })
}
