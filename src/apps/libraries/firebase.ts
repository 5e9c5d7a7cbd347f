import { firebaseExports, firebaseKey, type FirebaseModule } from './firebase-exports.ts'
import type { Library } from './library.ts'

/**
 * The modules of Firebase, as pages of Gemini canvas import them. They are no copy of the SDK: each
 * hands on what the script of the host's interface has (public/shims/firebase.ts), over
 * `service.db`. So the SDK is never fetched, and no version of it matters.
 */
export const firebaseName = 'firebase'

const isModule = (name: string): name is FirebaseModule => Object.hasOwn(firebaseExports, name)

/** "firebase-firestore.js" of the CDN of Google; "firestore/lite" and "firestore" elsewhere. */
const pathPattern = /^(?:firebase-)?([a-z]+)(?:[-/]lite)?(?:\.js)?$/

/** Returns the module that a path of the package names; undefined for one that is not here. */
export function findFirebaseModule(path: string): FirebaseModule | undefined {
  const [, name = ''] = pathPattern.exec(path) ?? []
  return isModule(name) ? name : undefined
}

const textOf = (name: FirebaseModule): string => {
  const names = firebaseExports[name].join(', ')
  return `const { ${names} } = globalThis[Symbol.for('${firebaseKey}')].${name}\nexport { ${names} }\n`
}

const modules = new Map(
  Object.keys(firebaseExports)
    .filter(isModule)
    .map((name) => [`${name}.js`, new TextEncoder().encode(textOf(name))]),
)

/** The package that stands for all versions of Firebase. */
export const firebaseLibrary: Library = {
  name: firebaseName,
  version: 'service',
  license: 'MIT',
  source: 'embedded',
  files: new Map([...modules].map(([path, { byteLength }]) => [path, byteLength])),
  read: async (path) => modules.get(path) ?? new Uint8Array(),
}
