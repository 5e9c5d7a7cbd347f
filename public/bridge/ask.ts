/** A question of the shell to the player, in a bar above the app. */
export interface Question {
  text: string
  yes: string
  no: string
}

/** A press this soon after the bar appeared was meant for what was there before. */
const settleMs = 600

let last: Promise<unknown> = Promise.resolve()

/** Asks the player, one question at a time. Only a press of the person answers. */
export function ask(question: Question): Promise<boolean> {
  const answered = last.then(() => show(question))
  last = answered
  return answered
}

function show({ text, yes, no }: Question): Promise<boolean> {
  // The bar is no part of a full screen, which only has the app.
  if (document.fullscreenElement) void document.exitFullscreen()
  const bar = document.createElement('section')
  bar.id = 'question'
  bar.setAttribute('role', 'alertdialog')
  bar.setAttribute('aria-label', 'Question of this site')
  const words = document.createElement('p')
  words.textContent = text
  bar.append(words)
  const shown = performance.now()
  return new Promise((resolve) => {
    for (const [label, isAgreed] of [
      [no, false],
      [yes, true],
    ] as const) {
      const button = document.createElement('button')
      button.textContent = label
      button.className = isAgreed ? 'yes' : ''
      button.addEventListener('click', ({ isTrusted }) => {
        if (!isTrusted || performance.now() - shown < settleMs) return
        bar.remove()
        resolve(isAgreed)
        document.querySelector('iframe')?.focus()
      })
      bar.append(button)
    }
    document.querySelector('main')?.before(bar)
  })
}
