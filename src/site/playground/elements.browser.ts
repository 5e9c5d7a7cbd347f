/** Creates an element with a class and its contents. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = '',
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  if (className !== '') made.className = className
  made.append(...content)
  return made
}

/** Creates a button that runs `act`. */
export function actionButton(label: string, className: string, act: () => void): HTMLButtonElement {
  const button = element('button', className, label)
  button.type = 'button'
  button.addEventListener('click', act)
  return button
}

/** Creates a code block with a Copy button. */
export function codeBlock(text: string, label: string): HTMLElement {
  const pre = element('pre', '', element('code', '', text))
  pre.tabIndex = 0
  pre.setAttribute('aria-label', label)
  const line = document.createElement('copy-line')
  line.dataset['label'] = label
  line.append(pre)
  return line
}
