import { index, integer, primaryKey, table, text, time } from '../../kernel/db/columns.ts'
import type { LibrarySource } from './library.ts'

/** Libraries that the operator added, or that were fetched for a page. */
export const libraries = table(
  'libraries',
  {
    name: text('name').notNull(),
    version: text('version').notNull(),
    license: text('license').notNull(),
    source: text('source').$type<Exclude<LibrarySource, 'embedded'>>().notNull(),
    added: time('added').notNull(),
  },
  (t) => [primaryKey({ columns: [t.name, t.version] })],
)

/** The files of these libraries. */
export const libraryFiles = table(
  'library_files',
  {
    name: text('name').notNull(),
    version: text('version').notNull(),
    path: text('path').notNull(),
    sha256: text('sha256').notNull(),
    bytes: integer('bytes').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.name, t.version, t.path] }),
    index('library_files_sha256').on(t.sha256),
  ],
)

/** The library files that a version of an app uses, as they are delivered. */
export const libraryUses = table(
  'library_uses',
  {
    app: text('app').notNull(),
    version: integer('version').notNull(),
    /** Name and version, such as "three@0.180.0". */
    library: text('library').notNull(),
    sha256: text('sha256').notNull(),
    type: text('type').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.version, t.library, t.sha256] }),
    index('library_uses_library').on(t.library, t.app),
    index('library_uses_sha256').on(t.sha256),
  ],
)
