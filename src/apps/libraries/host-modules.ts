import { createHostLibrary } from './library.ts'

/** Returns the text of a module that hands on a hook of public/shims for the page's own React. */
const hookOf = (name: string, key: string): string =>
  `import * as React from 'react'\nexport const ${name} = globalThis[Symbol.for('${key}')](React)\n`

const socket = `const { WebsimSocket } = globalThis\nexport { WebsimSocket }\nexport default WebsimSocket\n`

/**
 * The modules that other hosts add to pages. Each interface is that of a script of public/shims.
 * Sources: the documentation of Poe's platform of apps, "Embed API", and of Puter; public pages of
 * websim and GitHub Spark (November 2026).
 */
export const hostLibrary = createHostLibrary('hosts', {
  'poe.mjs': `const { Poe } = globalThis
export { Poe }
export default Poe
export const createPoe = () => Poe
export class PostMessageEnvironment {}
export const defineClientConfig = (config) => config
`,
  'puter.mjs': 'export const { puter } = globalThis\nexport default puter\n',
  'spark.mjs': `export const { spark } = globalThis\nexport default spark\n`,
  'spark-hooks.mjs': hookOf('useKV', 'service.spark.useKV'),
  'websim-socket.mjs': socket,
  'websim-query.mjs': socket + hookOf('useQuery', 'service.websim.useQuery'),
})

const files: [name: RegExp, path: string][] = [
  [/^(?:@poe\/embed-api|poe-apps-sdk)(?:\/|$)/, 'poe.mjs'],
  [/^@heyputer\/puter\.js(?:\/|$)/, 'puter.mjs'],
  [/^@github\/spark\/hooks$/, 'spark-hooks.mjs'],
  [/^@github\/spark(?:\/spark)?$/, 'spark.mjs'],
  [/^@websim\/websim-socket$/, 'websim-socket.mjs'],
  [/^@websim\/use-query$/, 'websim-query.mjs'],
]

/** Finds the file of a module, such as "@poe/embed-api/v1.js"; undefined for any other name. */
export const findHostModule = (name: string): string | undefined =>
  files.find(([pattern]) => pattern.test(name))?.[1]
