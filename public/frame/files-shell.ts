/** The shell of apps with files. */
import { FolderPages } from './folder-pages.ts'
import { field, text } from './messages.ts'
import { type FolderShell, runShell } from './run-shell.ts'

/** Time in which a page that is left for another one of its folder asks for that. */
const nextPageMs = 2_000
const urlCharsMax = 4_000
/** Pages of a folder that may follow each other in `windowMs`. */
const pagesMax = 20
const windowMs = 10_000

/** Shows the pages of a folder. Each has an entry in the history. */
function openFolder({ first, list, show, again, notify }: FolderShell) {
  const pages = new FolderPages(first, list, text(list, 'frame', urlCharsMax))
  let leaving: ReturnType<typeof setTimeout> | undefined
  let shown: number[] = []
  const open = async (): Promise<void> => {
    const page = text(history.state, 'page', urlCharsMax)
    const hash = text(history.state, 'hash', urlCharsMax)
    show(await pages.content(page === '' ? {} : { page, hash }))
  }
  const goTo = (url: string): void => {
    const next = pages.find(url)
    if (!next) {
      return notify({ text: 'This app links to a page that is not in its folder.', ms: 5_000 })
    }
    const now = performance.now()
    shown = [...shown.filter((at) => now - at < windowMs), now]
    if (shown.length > pagesMax) return
    history.pushState(next, '')
    void open()
  }
  addEventListener('popstate', () => void open())
  return {
    open,
    leave: () => void (leaving = setTimeout(again, nextPageMs)),
    stay: () => clearTimeout(leaving),
    take(data: unknown, run: number | undefined): boolean {
      const type = field(data, 'type')
      const isReload = type === 'service:reloaded' && field(data, 'run') === run
      if (isReload) again()
      else if (type === 'service:page') goTo(text(data, 'url', urlCharsMax))
      return isReload || type === 'service:page'
    },
  }
}

runShell(openFolder)
