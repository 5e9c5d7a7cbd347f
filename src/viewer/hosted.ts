/** What the viewer shows of an app. `updated` is in milliseconds and moves with every change. */
export interface HostedApp {
  id: string
  title: string
  description: string
  /** The address of its picture. */
  icon: string | null
  /** The maker's handle, without the @. */
  maker: string
  /** On Explore, where its maker then has a page. */
  listed: boolean
  /**
   * building: its first build still runs. held: not shown until somebody has looked at it. closed:
   * the maker has closed the account or the app.
   */
  state: 'live' | 'building' | 'held' | 'taken_down' | 'closed'
  version: number
  updated: number
}

/** The newest version's page; br and gzip where they have been made already. */
export interface HostedHtml {
  sha256: string
  identity: Uint8Array
  br?: Uint8Array
  gzip?: Uint8Array
}

/** One file of the newest version's file table. */
export interface HostedFile {
  name: string
  type: string
  bytes: number
  sha256: string
}

/** What the viewer needs of hosting, and nothing more: hosting's verbs are put behind it. */
export interface Hosted {
  /** Moves with every change of any app; undefined where others change them too. */
  commits?(): number | undefined
  /** The app of a public link, whoever asks; undefined when there never was one. */
  find(id: string): Promise<HostedApp | undefined>
  /** How far an app's first build is, 0 to 1; undefined where none runs. */
  built?(app: HostedApp): Promise<number | undefined>
  /** Notes that a visitor opened the app with this request. */
  opened(app: HostedApp, request: Request): void
  /** Keeps that an agent opened the app with its key, if the request carries one. */
  used?(app: HostedApp, request: Request): Promise<void>
  /**
   * An app at one of its versions, also one that visitors are not shown, for its owner and for the
   * operator; undefined for anyone else.
   */
  preview?(id: string, version: number, request: Request): Promise<HostedApp | undefined>
  html(app: HostedApp): Promise<HostedHtml>
  files(app: HostedApp): Promise<HostedFile[]>
  /** A file's content; undefined when the newest version has none of that name. */
  file(app: HostedApp, name: string): Promise<{ file: HostedFile; content: Uint8Array } | undefined>
}

/** Origins, "https://apps.example". `apps` is the frame's own host, where there is one. */
export interface ViewerUrls {
  app: string
  apps?: string
}
