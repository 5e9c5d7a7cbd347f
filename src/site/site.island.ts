import './theme-switch.browser.ts'

/** `/` moves the focus to the search field, as on GitHub, unless one is typing. */
addEventListener('keydown', (event) => {
  const hasModifier = event.metaKey || event.ctrlKey || event.altKey
  // The editor of code is in a shadow root, behind which the target is its element.
  const [target] = event.composedPath()
  const isTyping =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  if (event.key !== '/' || hasModifier || isTyping) return
  const fields = document.querySelectorAll<HTMLInputElement>('input[type=search]')
  const field = [...fields].find((one) => one.checkVisibility())
  if (!field) return
  event.preventDefault()
  field.focus()
  field.select()
})
