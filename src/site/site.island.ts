import './theme-switch.browser.ts'

/** Writes the name of a chosen or dropped file on its field. */
addEventListener('change', ({ target: input }) => {
  if (!(input instanceof HTMLInputElement) || input.type !== 'file') return
  const name = input.parentElement?.querySelector<HTMLElement>('b + span')
  if (!name) return
  name.dataset['none'] ??= name.textContent
  name.textContent = input.files?.[0]?.name ?? name.dataset['none']
})

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
