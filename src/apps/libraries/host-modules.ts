import { createHostLibrary, type Library } from './library.ts'

/** A module that another host adds to its pages, and the file that stands for it. */
export interface HostModule {
  library: Library
  path: string
}

/** Returns the text of a module that hands on a hook of public/shims for the page's own React. */
const hookOf = (name: string, key: string): string =>
  `import * as React from 'react'\nexport const ${name} = globalThis[Symbol.for('${key}')](React)\n`

const socket = `const { WebsimSocket } = globalThis\nexport { WebsimSocket }\nexport default WebsimSocket\n`

/**
 * Each interface is that of a script of public/shims. Sources: the documentation of Poe's platform
 * of apps, "Embed API"; public pages of websim and GitHub Spark (November 2026).
 */
const library = createHostLibrary('hosts', {
  'poe.mjs': `const { Poe } = globalThis
export { Poe }
export default Poe
export const createPoe = () => Poe
export class PostMessageEnvironment {}
export const defineClientConfig = (config) => config
`,
  'spark.mjs': `export const { spark } = globalThis\nexport default spark\n`,
  'spark-hooks.mjs': hookOf('useKV', 'service.spark.useKV'),
  'websim-socket.mjs': socket,
  'websim-query.mjs': socket + hookOf('useQuery', 'service.websim.useQuery'),
})

const files: [name: RegExp, path: string][] = [
  [/^(?:@poe\/embed-api|poe-apps-sdk)(?:\/|$)/, 'poe.mjs'],
  [/^@github\/spark\/hooks$/, 'spark-hooks.mjs'],
  [/^@github\/spark(?:\/spark)?$/, 'spark.mjs'],
  [/^@websim\/websim-socket$/, 'websim-socket.mjs'],
  [/^@websim\/use-query$/, 'websim-query.mjs'],
]

/** Finds the module of a name, such as "@poe/embed-api/v1.js"; undefined for any other name. */
export function findHostModule(name: string): HostModule | undefined {
  const [, path] = files.find(([pattern]) => pattern.test(name)) ?? []
  return path === undefined ? undefined : { library, path }
}
