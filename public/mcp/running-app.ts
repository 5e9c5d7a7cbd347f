import { FolderPages } from '../frame/folder-pages.ts'
import { SandboxHost } from '../frame/host.ts'
import { type DialogResult, field, type PageContent, type Sound, text } from '../frame/messages.ts'
import type { Offer } from '../frame/notices.ts'
import { receiver } from '../frame/receiver.ts'
import { isFromApp, letSave } from '../frame/sent.ts'
import { t } from '../words.ts'
import type { AppContent } from './app-content.ts'
import type { HostContext } from './host-context.ts'
import { openKeptSaves, openPageDatabases } from './view-saves.ts'
import type { ViewSize } from './view-size.ts'

interface View {
  context: HostContext
  size: ViewSize
  notify(offer: Offer): void
  openLink(url: string): Promise<unknown>
}

/** Returns the text of a wrapper, which the build embeds in this page. */
const wrapperOf = ({ files }: AppContent): string =>
  JSON.parse(document.getElementById(files ? 'files-wrapper' : 'wrapper')?.textContent ?? '""')

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** An app in the sandbox of this page. */
export class RunningApp {
  #content: PageContent
  #answers: DialogResult[] = []
  #isMuted = false
  #saves: Awaited<ReturnType<typeof openKeptSaves>> | undefined
  readonly #frame = document.createElement('iframe')
  readonly #host = new SandboxHost(this.#frame, '')
  readonly #session = new Map<string, string>()

  constructor(
    private readonly app: AppContent,
    private readonly view: View,
  ) {
    this.#content = app
    const policy = `<meta http-equiv=Content-Security-Policy content="${escaped(app.policy)}">`
    this.#frame.title = app.title
    this.#frame.setAttribute('sandbox', 'allow-scripts allow-forms allow-pointer-lock')
    this.#frame.setAttribute('allow', 'gamepad *; autoplay *')
    this.#frame.referrerPolicy = 'no-referrer'
    // The policy comes before the first script, and all frames below inherit it. Without a scheme
    // of its own, the wrapper would keep the theme of the chat from the app.
    const start = `$&<html style="color-scheme:light dark">${policy}`
    this.#frame.srcdoc = wrapperOf(app).replace(/^<!doctype html>/, start)
  }

  get link(): string {
    return this.app.link
  }

  /** The window of the app; null before it exists. */
  get window(): Window | null {
    return this.#host.app
  }

  /** Starts the app. Rejects with "sandbox" where the browser did not apply it. */
  async open(isSignedIn: boolean): Promise<void> {
    const loaded = this.#host.load()
    document.querySelector('main')?.append(this.#frame)
    const [saves] = await Promise.all([openKeptSaves(this.app.id, isSignedIn), loaded])
    this.#saves = saves
    const { size, context, notify } = this.view
    const take = receiver({
      saves,
      openDatabases: openPageDatabases,
      session: this.#session,
      started: () => void (document.documentElement.dataset['started'] = ''),
      answered: (answers) => void (this.#answers = answers),
      failed: () => undefined,
      notify: (offer) => notify(this.#allowed(offer)),
    })
    document.getElementById('sound')?.addEventListener('click', () => this.#turnSound())
    addEventListener('message', (event) => {
      if (!isFromApp(this.#host, event)) return
      const { source, data } = event
      const type = text(data, 'type', 40)
      if (type === 'service:gone') this.#again(data)
      else if (type === 'service:size') size.take(Number(field(data, 'height')))
      else if (type === 'service:full') void context.setFull(field(data, 'isFull') === true)
      else if (type === 'service:page') void this.#goTo(text(data, 'url', 4_000))
      else void take(source, data)
    })
    this.#start()
  }

  /** Lets the app save, and keeps what it saved. */
  async leave(): Promise<void> {
    await letSave(this.#host)
    await this.#saves?.flush()
  }

  async restart(): Promise<void> {
    this.#host.forgetLeaves()
    this.#answers = []
    await this.leave()
    this.#start()
  }

  #start(): void {
    this.view.size.restart()
    const { locale } = this.view.context
    const saved = this.#saves?.all() ?? []
    const session = [...this.#session]
    this.#host
      .start(this.#content, saved, session, this.#answers, this.#isMuted, { locale })
      // The page contains the wrapper, which loads without a network.
      .catch(() => undefined)
    this.#frame.focus()
  }

  /** Restarts an app that reloaded or navigated away. */
  #again(data: unknown): void {
    if (field(data, 'run') !== this.#host.run) return
    if (this.#host.mayStartAgain()) this.#start()
    else
      this.view.notify({
        text: t('This app keeps leaving.'),
        label: t('Restart'),
        press: () => this.#start(),
      })
  }

  /** Shows another page of the folder. */
  async #goTo(url: string): Promise<void> {
    const { files } = this.app
    if (!files?.address) return
    const { address, names } = files
    const rows = names.map((name) => ({
      name,
      url: address + name.split('/').map(encodeURIComponent).join('/'),
    }))
    const pages = new FolderPages(this.app, { files: rows }, address)
    const found = pages.find(url)
    if (!found) return
    this.#content = await pages.content(found)
    this.#start()
  }

  #turnSound(): void {
    this.#isMuted = !this.#isMuted
    document.getElementById('sound')?.setAttribute('aria-pressed', String(this.#isMuted))
    const message: Sound = { type: 'service:sound', isMuted: this.#isMuted }
    this.window?.postMessage(message, '*')
  }

  /** A frame of a chat saves no file and prints nothing, so its own page offers that. */
  #allowed(offer: Offer): Offer {
    if (offer.press === undefined) return offer
    return {
      text: t('Saving, printing and sharing work on the page of the app.'),
      label: t('Open'),
      href: this.app.link,
    }
  }
}
