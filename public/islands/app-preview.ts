import { fetchFiles, fetchList, fetchPage, SandboxHost } from '../frame/host.ts'
import { type DialogResult, field, type Files, type PageContent } from '../frame/messages.ts'
import { createFrame } from '../frame/nest.ts'
import { answersIn, apply, changesIn } from '../frame/saves.ts'

const restartsMax = 3
const widths = { Phone: '390px', Tablet: '768px', Full: '100%' }

/**
 * `<app-preview data-frame="/frame" data-at="/a/ID/versions/1">`: runs an app in the sandbox of the
 * page, without counting an open. It keeps saves only as long as the page. `show` runs another
 * page.
 */
export class AppPreview extends HTMLElement {
  #host: SandboxHost | undefined
  #loaded: Promise<void> | undefined
  #content: PageContent = { html: '' }
  #files: Promise<Files> = Promise.resolve({ type: 'service:assets', files: [] })
  #saves = { local: new Map<string, string>(), session: new Map<string, string>() }
  #answers: DialogResult[] = []
  #restarts = 0

  connectedCallback(): void {
    const { frame: url = '', at, title = '' } = this.dataset
    const frame = createFrame(title)
    this.#host = new SandboxHost(frame, url)
    this.#addBar()
    this.append(frame)
    addEventListener('message', this.#take)
    if (at) void this.#open(at)
  }

  disconnectedCallback(): void {
    removeEventListener('message', this.#take)
  }

  /** Runs a page with its files. */
  async show(html: string, files?: Files): Promise<void> {
    // A page that is being edited keeps the libraries of its last version.
    this.#content = { ...this.#content, html }
    if (files) this.#files = Promise.resolve(files)
    this.#restarts = 0
    this.hidden = false
    this.#loaded ??= this.#host?.load()
    try {
      await this.#loaded
    } catch {
      this.#fail('This browser did not apply the sandbox, so the app is not shown.')
      return
    }
    this.#start()
  }

  async #open(at: string): Promise<void> {
    try {
      const list = fetchList(at)
      this.#files = list.then(fetchFiles)
      this.#content = await fetchPage(at, list, this.#files)
      await this.show(this.#content.html)
    } catch {
      this.#fail('The app did not load. Reload this page to try again.')
    }
  }

  #start(): void {
    const { local, session } = this.#saves
    this.#host?.start(this.#content, [...local], [...session], this.#answers)
  }

  #fail(message: string): void {
    this.querySelector('iframe')?.replaceWith(
      Object.assign(document.createElement('p'), { textContent: message }),
    )
  }

  #take = ({ source, data }: MessageEvent): void => {
    const host = this.#host
    if (!host) return
    const type = field(data, 'type')
    // The last message of an unloaded document has no source window.
    const isGone = type === 'service:gone' && field(data, 'run') === host.run
    if (isGone && (source === null || source === host.app)) {
      this.#restarts += 1
      if (this.#restarts <= restartsMax) this.#start()
    } else if (source !== null && source === host.app) {
      if (type === 'service:hello') {
        void this.#files.then((files) => source.postMessage(files, { targetOrigin: '*' }))
      } else if (type === 'service:save') {
        const area = field(data, 'area') === 'local' ? 'local' : 'session'
        apply(this.#saves[area], changesIn(field(data, 'changes')))
      } else if (type === 'service:databases') {
        source.postMessage({ databases: [] }, { targetOrigin: '*' })
      } else if (type === 'service:answers') {
        this.#answers = answersIn(field(data, 'answers'))
      }
    }
  }

  #addBar(): void {
    const bar = document.createElement('div')
    bar.className = 'preview-bar'
    bar.role = 'group'
    bar.ariaLabel = 'Preview'
    const sizes = Object.entries(widths).map(([label, width]) => {
      const button = createButton(label, () => {
        this.style.setProperty('--preview', width)
        for (const one of sizes) one.ariaPressed = String(one === button)
      })
      button.ariaPressed = String(label === 'Full')
      return button
    })
    const restart = createButton('Restart', () => {
      this.#answers = []
      this.#start()
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
