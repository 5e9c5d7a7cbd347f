import { firebaseExports, firebaseKey, type FirebaseModule } from './firebase-exports.ts'
import { createHostLibrary } from './library.ts'

/** The modules of Firebase, as pages of Gemini canvas import them: public/shims/firebase.ts. */
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

/** The package that stands for all versions of Firebase. */
export const firebaseLibrary = createHostLibrary(
  firebaseName,
  Object.fromEntries(
    Object.keys(firebaseExports)
      .filter(isModule)
      .map((name) => [`${name}.js`, textOf(name)]),
  ),
)
