import { t } from '../words.ts'
import { FolderPages } from './folder-pages.ts'
import { field, type PageContent, text } from './messages.ts'
import type { Offer } from './notices.ts'
import type { StartedApp } from './opened-page.ts'

/** Time in which a page that is left for another one of its folder asks for that. */
const nextPageMs = 2_000
const urlCharsMax = 4_000
/** Pages of a folder that may follow each other in `windowMs`. */
const pagesMax = 20
const windowMs = 10_000

interface FolderShell {
  app: StartedApp
  /** Lets the page that runs save, and starts another one. */
  show(content: PageContent): Promise<void>
  /** Restarts a page that reloaded or navigated away. */
  again(): void
  notify(offer: Offer): void
}

/** The pages of an app in a folder. */
export interface OpenedFolder {
  /** Starts the page that a shortcut or the history names. */
  open(): Promise<void>
  /** The page is left, perhaps for another one of its folder. */
  leave(): void
  /** A page starts. */
  stay(): void
  /** Handles a message of the app. Returns false for one that is not about its pages. */
  take(data: unknown, run: number): boolean
}

/** Shows the pages of a folder. Each has an entry in the history. */
export function openFolder({ app, show, again, notify }: FolderShell): OpenedFolder {
  const opened = app
    .list()
    .then((list) => new FolderPages(app.content, list, text(list, 'frame', urlCharsMax)))
  let leaving: ReturnType<typeof setTimeout> | undefined
  let shown: number[] = []
  const open = async (): Promise<void> => {
    const [page = '', path = '', hash = '', search = ''] = ['page', 'path', 'hash', 'search'].map(
      (name) => text(history.state, name, urlCharsMax),
    )
    await show(await (await opened).content(page === '' ? undefined : { page, path, hash, search }))
  }
  const goTo = async (url: string, replaces: boolean): Promise<void> => {
    const next = (await opened).find(url)
    if (!next) {
      return notify({
        text: t('This app links to a page that is not in its folder.'),
        ms: 5_000,
      })
    }
    const now = performance.now()
    shown = [...shown.filter((at) => now - at < windowMs), now]
    if (shown.length > pagesMax) return
    if (replaces) history.replaceState(next, '')
    else history.pushState(next, '')
    void open()
  }
  addEventListener('popstate', () => void open())
  return {
    async open() {
      const place = app.shortcut === '' ? undefined : (await opened).find(app.shortcut)
      if (place) history.replaceState(place, '')
      await open()
    },
    leave: () => void (leaving ??= setTimeout(again, nextPageMs)),
    stay: () => {
      clearTimeout(leaving)
      leaving = undefined
    },
    take(data, run) {
      const type = field(data, 'type')
      // After location.reload() a wrapper has taken the place of the page.
      const isReload =
        (type === 'service:reloaded' && field(data, 'run') === run) ||
        (type === 'mode' && leaving !== undefined)
      if (isReload) again()
      else if (type === 'service:page')
        void goTo(text(data, 'url', urlCharsMax), field(data, 'replaces') === true)
      return isReload || type === 'service:page'
    },
  }
}
