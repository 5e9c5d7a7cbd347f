import { t } from '../words.ts'
import { type OpenedFolder, openFolder } from './folder-shell.ts'
import { fetchOwn } from './host.ts'
import { keepSaves } from './kept-saves.ts'
import { type DialogResult, field, type PageContent, type Sound } from './messages.ts'
import type { Shell, StartedApp } from './opened-page.ts'
import { discardForm, readForm } from './received.ts'
import { receiver } from './receiver.ts'
import { openDatabases } from './saved-databases.ts'
import { sentErrors } from './sent-errors.ts'
import { isFromApp, letSave } from './sent.ts'
import { markServed } from './served.ts'

const hungMs = 4_000
const goneMs = 500
const offeredCharsMax = 160

/** Returns the content for later starts: what was shared arrives once. */
function withoutReceived({ received: _, ...content }: PageContent): PageContent {
  return content
}

/** Answers the messages of a running app, and restarts it. */
export function runApp(shell: Shell): void {
  if (shell.app) new AppRun(shell, shell.app).listen()
}

class AppRun {
  #content: PageContent
  /** The newest run whose document has started. */
  #greeted = 0
  #answers: DialogResult[] = []
  readonly #session = new Map<string, string>()
  readonly #saves
  #folder: OpenedFolder | undefined
  #rescuing: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly shell: Shell,
    private readonly app: StartedApp,
  ) {
    this.#content = app.isElsewhere ? app.content : withoutReceived(app.content)
    this.#saves = keepSaves(app.saves)
    // The query of a page in the history may have what its player typed before a reload.
    const isServed = app.isElsewhere || app.saves.entries.size > 0 || app.content.received
    if (isServed) markServed()
  }

  listen(): void {
    const { id, version, host, bar, notify } = this.shell
    const take = receiver({
      saves: this.#saves,
      openDatabases: () => openDatabases(id),
      session: this.#session,
      started: (run) => {
        this.#greeted = run
        // A press between the start and the first message reached no document.
        const message: Sound = { type: 'service:sound', isMuted: bar.isMuted() }
        host.app?.postMessage(message, '*')
        bar.started()
      },
      answered: (given) => void (this.#answers = given),
      // The path of a preview goes on with its version.
      failed: sentErrors(id.split('/')[0] ?? '', version),
      notify,
    })
    if (this.#content.files) this.#openFolder()
    this.shell.listen((event) => {
      if (!isFromApp(host, event)) return
      const { source, data } = event
      const isGone = field(data, 'type') === 'service:gone' && field(data, 'run') === host.run
      if (isGone) (this.#folder?.leave ?? this.#again)()
      else if (field(data, 'type') === 'service:escape') bar.show()
      else if (!this.#folder?.take(data, host.run)) void take(source, data)
    })
    document.getElementById('reload')?.addEventListener('click', () => void this.#reload())
    void this.#offerForm(id)
  }

  /** Offers what a form has brought. Any site can send one, so the app gets it after a press. */
  async #offerForm(id: string): Promise<void> {
    const received = await readForm(id)
    if (!received) return
    const discard = (): void => discardForm(id)
    const { files, title, text, url } = received
    const names = [...files.map(({ name }) => name), title, text, url].filter((one) => one !== '')
    this.shell.notify({
      text: t('Shared with this app: {names}', {
        names: names.join(' · ').slice(0, offeredCharsMax),
      }),
      label: t('Open'),
      press: () => {
        discard()
        this.#content = { ...this.#content, received }
        void this.#reload()
      },
      discard,
    })
  }

  #openFolder(): void {
    const folder = openFolder({
      app: { ...this.app, content: withoutReceived(this.app.content) },
      show: async (content) => {
        await letSave(this.shell.host)
        this.#content = { ...content, received: this.#content.received }
        this.#start()
      },
      again: this.#again,
      notify: this.shell.notify,
    })
    this.#folder = folder
    if (this.app.isElsewhere) void folder.open()
  }

  #start(): void {
    const { host, bar, focus } = this.shell
    this.#folder?.stay()
    const session = [...this.#session]
    const muted = bar.isMuted()
    const content = this.#content
    const forgetReceived = (): void => {
      if (content === this.#content) this.#content = withoutReceived(content)
    }
    host
      .start(content, this.#saves.all(), session, this.#answers, muted)
      .then(forgetReceived, this.#fail)
    focus()
  }

  /** Offers another start where the wrapper did not load, such as without a network. */
  readonly #fail = (): void => {
    clearTimeout(this.#rescuing)
    const press = (): void => void this.#reload()
    this.shell.notify({ text: t('The app did not load.'), label: t('Restart'), press })
  }

  /** Restarts an app that reloaded or navigated away. */
  readonly #again = (): void => {
    if (this.shell.host.mayStartAgain()) return this.#start()
    const press = (): void => this.#start()
    this.shell.notify({ text: t('This app keeps leaving.'), label: t('Restart'), press })
  }

  async #reload(): Promise<void> {
    this.shell.host.forgetLeaves()
    this.#answers = []
    await letSave(this.shell.host)
    this.#start()
    this.#rescue(this.shell.host.run)
  }

  /**
   * Restarts an app in an endless loop, which receives no messages. Its process ends with its
   * frame, so the page reloads only then: a new frame would share the process. The page stays where
   * the server does not answer.
   */
  #rescue(requested: number): void {
    const { host, at } = this.shell
    const isHung = (): boolean => requested === host.run && this.#greeted !== requested
    const reload = (): void => {
      if (!isHung()) return
      document.querySelector('iframe')?.remove()
      setTimeout(() => location.reload(), goneMs)
    }
    clearTimeout(this.#rescuing)
    this.#rescuing = setTimeout(() => {
      if (isHung()) fetchOwn(`${at}/files`).then(reload, this.#fail)
    }, hungMs)
  }
}
