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

/** Focus that comes to this level by Tab or from the shell goes on to the level below. */
export function handDownFocus(): void {
  addEventListener('focus', () => document.querySelector('iframe')?.focus())
}
