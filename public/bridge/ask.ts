import { t } from '../words.ts'

/** A question of the shell to the player, in a bar above the app. */
export interface Question {
  title?: string
  text: string
  /** Labeled fields beside the buttons. */
  fields?: HTMLElement[]
  yes: string
  no: string
  /** A link instead of `yes`, where the player must go elsewhere first. */
  link?: HTMLAnchorElement | undefined
}

/** A press this soon after the bar appeared was meant for what was there before. */
const settleMs = 800

let last: Promise<unknown> = Promise.resolve()

/** Asks the player, one question at a time. Only a press of the person answers. */
export function ask(question: Question): Promise<boolean> {
  const answered = last.then(() => show(question))
  last = answered
  return answered
}

export const create = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  parts: (Node | string)[],
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
): HTMLElementTagNameMap[Name] => {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...parts)
  return element
}

/** Returns the parts of a message, with elements in the places that it names. */
export const withElements = (message: string, elements: Record<string, Node>): (Node | string)[] =>
  message.split(/(<\w+>)/).map((piece) => elements[piece] ?? piece)

async function show({ title, text, fields = [], yes, no, link }: Question): Promise<boolean> {
  // The bar is no part of a full screen, which only has the app.
  if (document.fullscreenElement) await document.exitFullscreen().catch(() => undefined)
  const closing = new AbortController()
  const isSettled = settling(closing.signal)
  const buttons = [
    [no, false],
    [yes, true],
  ] as const
  const elsewhere = isFramedByOthers() ? ownPage() : link
  return new Promise((resolve) => {
    const words = create('p', [
      ...(title === undefined ? [] : [create('strong', [title]), ' ']),
      text,
    ])
    const choice = create('div', [], { className: 'choice' })
    const bar = create('section', [words, ...(elsewhere ? [] : fields), choice], { id: 'question' })
    bar.setAttribute('role', 'alertdialog')
    bar.setAttribute('aria-label', t('Question of this site'))
    for (const [label, isAgreed] of buttons) {
      if (isAgreed && elsewhere) {
        elsewhere.className = 'yes'
        choice.append(elsewhere)
        continue
      }
      const button = create('button', [label], { className: isAgreed ? 'yes' : '' })
      button.addEventListener('click', ({ isTrusted }) => {
        if (!isTrusted || !isSettled()) return
        closing.abort()
        bar.remove()
        resolve(isAgreed)
        document.querySelector('iframe')?.focus()
      })
      choice.append(button)
    }
    document.querySelector('main')?.before(bar)
  })
}

/** Returns a function that says whether the bar has been in its place for a while. */
function settling(signal: AbortSignal): () => boolean {
  let since = performance.now()
  const restart = (): void => void (since = performance.now())
  addEventListener('resize', restart, { signal })
  document.addEventListener('visibilitychange', restart, { signal })
  return () => performance.now() - since >= settleMs && document.visibilityState === 'visible'
}

/**
 * Another site that frames this page could cover the bar, and borrow a press. The host of a chat
 * frames its page too, and could send the same calls itself.
 */
function isFramedByOthers(): boolean {
  if (document.documentElement.dataset['at'] === undefined) return false
  try {
    for (let at: Window = window; at !== at.parent; at = at.parent) {
      if (at.parent.location.origin !== location.origin) return true
    }
    return false
  } catch {
    return true
  }
}

function ownPage(): HTMLAnchorElement {
  const { at: href = '' } = document.documentElement.dataset
  return create('a', [t('Open on its own page')], { href, target: '_blank', rel: 'noopener' })
}
