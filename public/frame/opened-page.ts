import type { Bar } from './bar.ts'
import type { PageList, SandboxHost } from './host.ts'
import type { PageContent } from './messages.ts'
import type { Offer } from './notices.ts'
import type { StoredSaves } from './saves.ts'

/** The running app. */
export interface StartedApp {
  content: PageContent
  list: PageList
  saves: StoredSaves
  /** The history, or a shortcut, names another page of its folder, which has to start. */
  isElsewhere: boolean
  /** The page, query and fragment of a shortcut, relative to its folder, or ''. */
  shortcut: string
}

/** The page around an app, as late.ts takes it over. */
export interface OpenedPage {
  /** Path of the app's data. */
  at: string
  id: string
  maker: string
  /** The version that this page shows; 0 in the preview browser. */
  version: number
  host: SandboxHost
  /** Is missing where the app did not start. */
  app: StartedApp | undefined
  focus(): void
  /** Shows why there is no app. */
  fail(why: string): void
  /** Passes on the messages that came before, and all that come. */
  listen(take: (event: MessageEvent) => void): void
}

/** The page around an app, for its parts. */
export interface Shell extends OpenedPage {
  bar: Bar
  notify(offer: Offer): void
}
