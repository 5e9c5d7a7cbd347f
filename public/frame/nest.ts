import type { Press } from './messages.ts'

/** What every level's frame is given. The policies of the levels above bind it as well. */
const sandbox = 'allow-scripts allow-forms allow-pointer-lock'
const allow = 'fullscreen *; gamepad *; autoplay *'

/** Puts the next level into this document. */
export function nest(html: string): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.title = 'app'
  frame.setAttribute('sandbox', sandbox)
  frame.setAttribute('allow', allow)
  frame.srcdoc = html
  // The keys stay with the frame that went, unless they are called away and back.
  if (document.querySelector('iframe')) {
    frame.addEventListener('load', () => {
      if (!document.hasFocus()) return
      frame.blur()
      frame.focus()
    })
  }
  document.body.replaceChildren(frame)
  // After a tab was hidden Firefox may begin the page of a frame before it has given it a size.
  frame.getBoundingClientRect()
  frame.focus()
  return frame
}

/** The innermost window below this one: the app's, once it is there. */
function innermost(): Window {
  let app: Window = window
  for (let down = app[0]; down; down = down.length > 0 ? down[0] : undefined) app = down
  return app
}

/**
 * Focus that comes to this level by Tab or from the shell goes on to the level below. WebKit holds
 * it here until a pointer was first pressed: keys that come meanwhile are told to the app.
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
