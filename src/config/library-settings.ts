import { url } from './setting-types.ts'

/** The library store (docs/libraries.md). */
export const libraryStore = {
  LIBRARY_REGISTRY: url(
    'npm registry for the command berth libraries add. Default: the registry of npm on this machine.',
  ),
}
