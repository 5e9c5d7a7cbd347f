import type { Press } from './messages.ts'

/** Sandbox attributes of every frame. The policies of outer frames apply as well. */
const sandbox = 'allow-scripts allow-forms allow-pointer-lock'
const allow = 'fullscreen *; gamepad *; autoplay *'

/** Creates a frame with the attributes of the sandbox. */
export function createFrame(title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.title = title
  frame.setAttribute('sandbox', sandbox)
  frame.setAttribute('allow', allow)
  frame.referrerPolicy = 'no-referrer'
  return frame
}

/** Inserts the next inner frame into this document. */
export function nest(html: string): HTMLIFrameElement {
  const frame = createFrame('app')
  frame.srcdoc = html
  // The keyboard focus stays with the removed frame unless it is moved away and back.
  if (document.querySelector('iframe')) {
    frame.addEventListener('load', () => {
      if (!document.hasFocus()) return
      frame.blur()
      frame.focus()
    })
  }
  document.body.replaceChildren(frame)
  // After a tab was hidden, Firefox may start a frame's page before the frame has a size.
  frame.getBoundingClientRect()
  frame.focus()
  return frame
}

/** Returns the innermost window: the app's, once it exists. */
function innermost(): Window {
  let app: Window = window
  for (let down = app[0]; down; down = down.length > 0 ? down[0] : undefined) app = down
  return app
}

/**
 * Passes keyboard focus on to the inner frame. WebKit keeps it here until the first pointer press;
 * until then, key events are forwarded to the app.
 */
export function handDownFocus(): void {
  const pass = (event: KeyboardEvent): void => {
    const { type, key, code, location, repeat, ctrlKey, shiftKey, altKey, metaKey, keyCode } = event
    const held = { location, repeat, ctrlKey, shiftKey, altKey, metaKey, keyCode }
    const press: Press = { type: 'service:key', of: type, init: { key, code, ...held } }
    const app = innermost()
    if (app !== window) app.postMessage(press, '*')
  }
  addEventListener('focus', () => document.querySelector('iframe')?.focus())
  addEventListener('keydown', pass)
  addEventListener('keyup', pass)
}
