import { choice, url } from './setting-types.ts'

export const libraryStore = {
  LIBRARIES: choice(
    ['store', 'fetch'],
    'Packages that pages name and the library store lacks. store: they do not load. fetch: they are fetched from LIBRARY_REGISTRY.',
  ),
  LIBRARY_REGISTRY: url(
    'npm registry for LIBRARIES=fetch and the command berth libraries add. Default of the command: the registry of npm on this machine.',
  ),
}
