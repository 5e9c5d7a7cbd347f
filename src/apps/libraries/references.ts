/** A URL in a page that may name a library. */
export interface LibraryReference {
  url: string
  /** `code`: a text in a script, which may or may not be loaded. */
  use: 'script' | 'style' | 'module' | 'code'
  /** The integrity attribute of its tag (Subresource Integrity). */
  integrity?: string
}

/** Everything in a page that names libraries. */
export interface PageReferences {
  urls: LibraryReference[]
  /** Entries of its import maps. */
  imports: [name: string, url: string][]
  /** Names in the import statements of its scripts. */
  names: string[]
}

/** A file of a library as a page gets it. */
export interface PageFile {
  /** Name by which the other files refer to it, such as "berth:three@0.180.0/build/…". */
  name: string
  sha256: string
  type: string
  bytes: number
  /** A script loads it by its address in the files of the version, and no tag names it. */
  isOnDemand?: true
}

/** The libraries of one version of an app, stored with it. */
export interface PageLibraries {
  files: PageFile[]
  /** URLs as the page writes them, or folders of them, and the names of their files. */
  urls: [url: string, name: string][]
  /** Entries of the page's import map: names of files, or URLs that are no library. */
  imports: [name: string, target: string][]
}
