import { field } from './messages.ts'
import { handDownFocus, nest } from './nest.ts'

/** A frame between wrapper and app, for browsers that limit the depth of frames. */
const above = window.parent

addEventListener('message', function take(event) {
  const relays = field(event.data, 'relays')
  const html = field(event.data, 'html')
  if (event.source !== above || !Array.isArray(relays) || typeof html !== 'string') return
  removeEventListener('message', take)
  const [next, ...rest] = relays
  if (typeof next !== 'string') {
    nest(html)
    return
  }
  const frame = nest(next)
  addEventListener('message', function pass(reply) {
    if (reply.source !== frame.contentWindow || field(reply.data, 'type') !== 'ready') return
    removeEventListener('message', pass)
    frame.contentWindow?.postMessage({ type: 'down', relays: rest, html }, '*')
  })
})
handDownFocus()
above.postMessage({ type: 'ready' }, '*')
