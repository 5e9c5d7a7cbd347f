import type { RequestContext } from '../../kernel/http/request-context.ts'
import type { SessionSender } from '../../people/session-user.ts'
import type { Pass } from '../audience/access.ts'
import type { PageLibraries } from '../libraries/library.ts'
import type { PageUses } from '../uses/uses.ts'

/** An app as the viewer shows it. `updated` is in milliseconds and changes with every edit. */
export interface HostedApp {
  id: string
  title: string
  description: string
  /** URL of its icon. */
  icon: string | null
  /** Path of its cover. */
  cover?: string | null
  /** Mean color of its cover, as #rrggbb. */
  color?: string | null
  /** Others may remix it. */
  remixable?: boolean
  /** Price of a remix in credits. */
  remixPrice?: number
  /** The maker's handle, without the @. */
  maker: string
  /** Other sites may show it in a frame. */
  embeds?: boolean
  /** True when it is on Explore, where its maker then has a page. */
  listed: boolean
  /**
   * building: its first build is running. quarantined: hidden until a moderator reviews it. closed:
   * the maker closed the account or deleted the app.
   */
  state: 'live' | 'building' | 'quarantined' | 'taken_down' | 'closed'
  version: number
  /** Open pages take a new version at once. */
  live?: boolean
  /** Not everyone may open it: see `findPass`. */
  restricted?: boolean
  /** Path of the page that asks for its password. */
  lockedAt?: string
  /** Changes with who may open it. */
  access?: number
  updated: number
}

/** The newest version's HTML, with its compressed variants if they are stored. */
export interface HostedHtml {
  sha256: string
  identity: Uint8Array
  br?: Uint8Array
  gzip?: Uint8Array
  /** The page loads files of the library store. */
  hasLibraries?: boolean
  /** Its name in the folder that it came with; undefined for a page that came alone. */
  name?: string
  /** The uses of `service`; null where that was not recorded. */
  uses?: PageUses | null
}

/** A file of a version. */
export interface HostedFile {
  /** Its path in the folder, or the name of an asset. */
  name: string
  type: string
  bytes: number
  sha256: string
  /** SHA-256 of the compressed bytes, if they are stored. */
  br?: string | null
  zstd?: string | null
}

/** The bytes of a file, with its compressed variants if they are stored. A Blob is on disk. */
export interface FileContent {
  identity: Uint8Array | Blob
  br?: Uint8Array | Blob
  zstd?: Uint8Array | Blob
}

/** The source of the viewer's apps. hosting-source.ts implements it over the hosting module. */
export interface AppSource {
  /** Changes with every database commit; undefined where other processes write too. */
  commits?(): number | undefined
  /** Finds the app of a public link; undefined when it never existed. */
  find(id: string): Promise<HostedApp | undefined>
  /** Returns the progress of an app's first build, 0 to 1; undefined when none is running. */
  buildProgress?(app: HostedApp): Promise<number | undefined>
  /** Returns what lets a sender open an app that is restricted; undefined where nothing does. */
  findPass?(id: string, sender: SessionSender): Promise<Pass | undefined>
  /** Returns whether a pass still opens an app. */
  isValidPass?(id: string, pass: Pass): Promise<boolean>
  /** Streams changes of an app to an open page, which `find` finds while it is open. */
  watch?(request: Request, find: () => Promise<HostedApp | undefined>): Response
  /** Records that a request opened the app. The fast path passes its request context. */
  recordOpen(app: HostedApp, request: Request, context?: RequestContext): void
  /** Renders a page in the language of the person of a request, or of their browser. */
  inLanguageOf?(
    request: Request,
    render: () => Response | Promise<Response>,
  ): Response | Promise<Response>
  /** Records the agent that opened the app, if the request carries its key. */
  recordUse?(app: HostedApp, request: Request): Promise<void>
  /**
   * Finds any version of an app for its owner or the operator; undefined for anyone else.
   */
  preview?(id: string, version: number, request: Request): Promise<HostedApp | undefined>
  /** Finds a version whose preview somebody has opened; undefined once the app has ended. */
  previewed?(id: string, version: number): Promise<HostedApp | undefined>
  html(app: HostedApp): Promise<HostedHtml>
  files(app: HostedApp): Promise<HostedFile[]>
  /** Returns the library files of the page; null when it has none. */
  libraries?(app: HostedApp): Promise<PageLibraries | null>
  /** Reads a library file that an app uses. */
  libraryFile?(sha256: string): Promise<{ type: string; content: Uint8Array } | undefined>
  /** Finds a file that a player uploaded; undefined where there is none. */
  upload?(id: string, name: string): Promise<HostedFile | undefined>
  /** Reads a file of `files`; undefined when its bytes are missing. */
  file(file: HostedFile): Promise<FileContent | undefined>
}

/** Origins such as "https://apps.example". `apps` is the separate host of the frame, if set. */
export interface ViewerUrls {
  app: string
  apps?: string
  /** CSP sources of foreign pages that may embed apps, such as "*" or "https://a.example". */
  embedders?: string[]
  /** The operator configured `app`, so pages name no other host. */
  isConfigured?: boolean
}
