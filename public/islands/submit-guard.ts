/** As long as an answer is waited for before a second press counts again. */
const waitMs = 10_000

const sentAt = new WeakMap<EventTarget, number>()

/**
 * A form that is on its way is not sent again by an impatient second click: that would take the
 * answer of the first, with a key or codes that are shown once, away from who waits for it.
 */
addEventListener('submit', (event) => {
  const { target: form, timeStamp, defaultPrevented } = event
  if (defaultPrevented || form === null) return
  const isOnItsWay = timeStamp - (sentAt.get(form) ?? -waitMs) < waitMs
  if (isOnItsWay) event.preventDefault()
  else sentAt.set(form, timeStamp)
})
