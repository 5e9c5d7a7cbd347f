import { FolderPages } from '../../../public/frame/folder-pages.ts'
import { fetchPage, openList, SandboxHost } from '../../../public/frame/host.ts'
import { type DialogResult, field, type PageContent, text } from '../../../public/frame/messages.ts'
import { createFrame } from '../../../public/frame/nest.ts'
import { answersIn, apply, changesIn } from '../../../public/frame/saves.ts'
import { isFromApp, letSave } from '../../../public/frame/sent.ts'
import { t } from '../../../public/words.ts'

const urlCharsMax = 4_000
const unloaded = (): string => t('The app did not load. Reload this page to try again.')
const fields = 'textarea, input, [contenteditable]'
const full = '100%'
const widths = [
  [t('Phone'), '390px'],
  [t('Tablet'), '768px'],
  [t('Full'), full],
] as const

/**
 * `<app-preview data-frame="/frame" data-at="/a/ID/versions/1">`: runs an app in the sandbox of the
 * page, without counting an open. It keeps saves only as long as the page. `show` runs another
 * page.
 */
export class AppPreview extends HTMLElement {
  #host: SandboxHost | undefined
  #loaded: Promise<void> | undefined
  #content: PageContent = { html: '' }
  #pages: FolderPages | undefined
  #saves = { local: new Map<string, string>(), session: new Map<string, string>() }
  #answers: DialogResult[] = []
  /** The field that a person types in. */
  #typedIn: HTMLElement | undefined

  connectedCallback(): void {
    const { frame: url = '', at, title = '' } = this.dataset
    const frame = createFrame(title)
    this.#addBar()
    this.append(frame)
    addEventListener('message', this.#take)
    addEventListener('blur', this.#keepFocus)
    document.addEventListener('focusin', this.#noteFocus)
    this.addEventListener('pointerenter', () => (this.#typedIn = undefined))
    if (at) void this.#open(at, frame)
    else this.#host = new SandboxHost(frame, url)
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#take)
    removeEventListener('blur', this.#keepFocus)
    document.removeEventListener('focusin', this.#noteFocus)
  }

  /** Runs a page. */
  async show(html: string): Promise<void> {
    // A page that is being edited keeps the libraries and the files of its last version.
    this.#content = { ...this.#content, html }
    this.#host?.forgetLeaves()
    this.hidden = false
    this.#loaded ??= this.#host?.load()
    try {
      await this.#loaded
    } catch {
      this.#fail(t('This browser did not apply the sandbox, so the app is not shown.'))
      return
    }
    await this.#restart()
  }

  async #open(at: string, frame: HTMLIFrameElement): Promise<void> {
    try {
      const openedList = openList(at)
      const list = await openedList()
      // A version with files has a wrapper of its own.
      const url = text(list, 'frame', urlCharsMax) || (this.dataset['frame'] ?? '')
      this.#host = new SandboxHost(frame, url)
      this.#content = await fetchPage(at, openedList)
      if (this.#content.files) this.#pages = new FolderPages(this.#content, list, url)
      await this.show(this.#content.html)
    } catch {
      this.#fail(unloaded())
    }
  }

  #start(): void {
    const { local, session } = this.#saves
    this.#host
      ?.start(this.#content, [...local], [...session], this.#answers)
      .catch(() => this.#fail(unloaded()))
  }

  async #restart(): Promise<void> {
    if (this.#host) await letSave(this.#host)
    this.#start()
  }

  #fail(message: string): void {
    this.querySelector('iframe')?.replaceWith(
      Object.assign(document.createElement('p'), { textContent: message }),
    )
  }

  #noteFocus = (event: FocusEvent): void => {
    const [focused] = event.composedPath()
    const isField = focused instanceof HTMLElement && focused.matches(fields)
    this.#typedIn = isField ? focused : undefined
  }

  /** Gives the focus back to a field: an app takes it when it starts, while a person types. */
  #keepFocus = (): void => {
    const field = this.#typedIn
    // Within the event, Chromium would go on to pass the keys to the frame.
    if (this.contains(document.activeElement)) setTimeout(() => field?.focus())
  }

  #take = (event: MessageEvent): void => {
    const host = this.#host
    if (!host || !isFromApp(host, event)) return
    const { source, data } = event
    const type = field(data, 'type')
    if (type === 'service:gone' && field(data, 'run') === host.run) {
      if (host.mayStartAgain()) this.#start()
    } else if (type === 'service:page') {
      void this.#goTo(text(data, 'url', urlCharsMax))
    } else if (type === 'service:save') {
      const area = field(data, 'area') === 'local' ? 'local' : 'session'
      apply(this.#saves[area], changesIn(field(data, 'changes')))
    } else if (type === 'service:databases') {
      source?.postMessage({ databases: [] }, { targetOrigin: '*' })
    } else if (type === 'service:answers') {
      this.#answers = answersIn(field(data, 'answers'))
    }
  }

  /** Shows another page of the folder. */
  async #goTo(url: string): Promise<void> {
    const next = this.#pages?.find(url)
    const content = next && (await this.#pages?.content(next))
    if (!content) return
    this.#content = content
    await this.#restart()
  }

  #addBar(): void {
    const bar = document.createElement('div')
    bar.className = 'preview-bar'
    bar.role = 'group'
    bar.ariaLabel = t('Preview')
    const sizes = widths.map(([label, width]) => {
      const button = createButton(label, () => {
        this.style.setProperty('--preview', width)
        for (const one of sizes) one.ariaPressed = String(one === button)
      })
      button.ariaPressed = String(width === full)
      return button
    })
    const restart = createButton(t('Restart'), () => {
      this.#answers = []
      void this.#restart()
    })
    bar.append(...sizes, restart)
    this.prepend(bar)
  }
}

function createButton(label: string, press: () => void): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = label
  button.addEventListener('click', press)
  return button
}

customElements.define('app-preview', AppPreview)
