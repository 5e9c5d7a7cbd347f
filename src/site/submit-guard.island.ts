/** A second submit is ignored for this time. */
const waitMs = 10_000

const submittedAt = new WeakMap<EventTarget, number>()

/**
 * Ignores a second submit of a form. It would replace the response of the first one, with an API
 * key or recovery codes that are shown once.
 */
addEventListener('submit', (event) => {
  const { target: form, timeStamp, defaultPrevented } = event
  if (defaultPrevented || form === null) return
  const isPending = timeStamp - (submittedAt.get(form) ?? -waitMs) < waitMs
  if (isPending) event.preventDefault()
  else submittedAt.set(form, timeStamp)
})
