import type { Entity } from '../../kernel/http/entity.ts'
import type { Knob } from '../knobs/knobs.ts'
import type { HostedApp } from './app-source.ts'
import type { ScriptName } from './library-files.ts'
import type { FileTable } from './version-files.ts'

/** The files of a version. */
export interface OpenedTable {
  read: Promise<FileTable>
  /** The table, once it is read. */
  known?: FileTable
}

/** The needs of the content of a page: an address of files, scripts and knobs. */
export interface PageNeeds {
  hasFiles: boolean
  scripts: ScriptName[]
  knobs: Knob[]
  /** Its shell waits for the list of its files, libraries and scripts. */
  needsList: boolean
}

/** Cached responses of one app, rendered and compressed on first use. */
export interface CachedPage {
  app: HostedApp
  /** Path of the shell; its data and files are below. */
  at: string
  checked: number
  /** Commit count of the source when the page was compared with its app. */
  commits: number | undefined
  shells: Map<string, Entity>
  data?: Entity
  files?: Entity
  /** The needs of its content, read for its first shell or list. */
  needs?: Promise<PageNeeds>
  /** Files of versions whose addresses somebody opened, by version. */
  tables: Map<number, OpenedTable>
  /** Only its owner and the operator see it. */
  isPreview: boolean
  /** Path of the wrapper of a copy, which opens offline. */
  copyFrame?: string
}

const uncached = { checked: 0, commits: undefined }

/** Returns a page without responses. One that is not compared with its app is a preview. */
export const newPage = (
  app: HostedApp,
  at: string,
  compared: Pick<CachedPage, 'checked' | 'commits'> = uncached,
): CachedPage => ({
  app,
  at,
  ...compared,
  shells: new Map(),
  tables: new Map(),
  isPreview: compared === uncached,
})
