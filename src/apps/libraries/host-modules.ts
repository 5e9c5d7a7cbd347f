import { lookUp } from '../../kernel/schema.ts'
import { firebaseAbsent, firebaseExports, firebaseKey } from './firebase-exports.ts'
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

/** The modules of Firebase, as pages of Gemini canvas import them: public/shims/firebase.ts. */
export const firebaseName = 'firebase'

const moduleNames = [...new Set([...Object.keys(firebaseExports), ...Object.keys(firebaseAbsent)])]

/** "firebase-firestore.js" of the CDN of Google; "firestore/lite" and "firestore" elsewhere. */
const pathPattern = /^(?:firebase-)?([a-z-]+?)(?:[-/]lite)?(?:\.js)?$/
/** An older name of a module. */
const renamed = new Map([['vertexai', 'ai']])

/** Returns the module that a path of the package names; undefined for one that is not here. */
function findFirebaseModule(path: string): string | undefined {
  const [, given = ''] = pathPattern.exec(path) ?? []
  const name = renamed.get(given) ?? given
  return moduleNames.includes(name) ? name : undefined
}

/** Returns a note about a product without a counterpart here; none for one with it. */
export function firebaseNotes(path: string): string[] {
  const name = findFirebaseModule(path)
  if (name === undefined || Object.hasOwn(firebaseExports, name)) return []
  return [
    `firebase/${name} is not available here: its functions throw an error. Apps have firebase/auth and firebase/firestore.`,
  ]
}

const parts = 'app|auth|firestore|analytics'
/** "firebase-app.js" and "firebase.js" by a classic script, with or without "-compat". */
const scriptPattern = new RegExp(`(?:^|/)firebase(?:-(?:${parts}))?(?:-compat)?(?:\\.min)?\\.js$`)
/** "firebase-app-compat.js" and "compat/firestore" by an import. */
const compatPattern = new RegExp(`^(?:firebase-(?:${parts})-compat\\b|compat/(?:${parts})\\b)`)

/** Hands on the global of the older interface, which public/shims/firebase-compat.ts provides. */
const compatModule = 'compat.js'
/** A classic script with nothing to do. */
const compatScript = 'compat.script.js'

/** Returns the file that a path of the package names; undefined for one that is not here. */
export function findFirebaseFile(path: string, isScript: boolean): string | undefined {
  // A classic script is one of the older interface, in every version.
  if (isScript) return path === '' || scriptPattern.test(path) ? compatScript : undefined
  if (compatPattern.test(path)) return compatModule
  const name = findFirebaseModule(path)
  return name && `${name}.js`
}

/** A module that lacks a name which a page imports would not run at all. */
function textOf(name: string): string {
  const names = (lookUp<readonly string[]>(firebaseExports, name) ?? []).join(', ')
  const absent = lookUp(firebaseAbsent, name) ?? []
  return [
    `const all = globalThis[Symbol.for('${firebaseKey}')]`,
    ...(names === '' ? [] : [`const { ${names} } = all['${name}']`, `export { ${names} }`]),
    ...absent.map((one) => `export const ${one} = all.absent('firebase/${name}', '${one}')`),
    '',
  ].join('\n')
}

/** The package that stands for all versions of Firebase. */
export const firebaseLibrary = createHostLibrary(firebaseName, {
  ...Object.fromEntries(moduleNames.map((name) => [`${name}.js`, textOf(name)])),
  [compatModule]: 'const { firebase } = globalThis\nexport { firebase }\nexport default firebase\n',
  [compatScript]: '// The page has this interface already.\n',
})
