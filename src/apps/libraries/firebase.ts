import { firebaseExports, firebaseKey, type FirebaseModule } from './firebase-exports.ts'
import { createHostLibrary } from './library.ts'

/** The modules of Firebase, as pages of Gemini canvas import them: public/shims/firebase.ts. */
export const firebaseName = 'firebase'

const isModule = (name: string): name is FirebaseModule => Object.hasOwn(firebaseExports, name)

/** "firebase-firestore.js" of the CDN of Google; "firestore/lite" and "firestore" elsewhere. */
const pathPattern = /^(?:firebase-)?([a-z]+)(?:[-/]lite)?(?:\.js)?$/

/** Returns the module that a path of the package names; undefined for one that is not here. */
function findFirebaseModule(path: string): FirebaseModule | undefined {
  const [, name = ''] = pathPattern.exec(path) ?? []
  return isModule(name) ? name : undefined
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

const textOf = (name: FirebaseModule): string => {
  const names = firebaseExports[name].join(', ')
  return `const { ${names} } = globalThis[Symbol.for('${firebaseKey}')].${name}\nexport { ${names} }\n`
}

/** The package that stands for all versions of Firebase. */
export const firebaseLibrary = createHostLibrary(firebaseName, {
  ...Object.fromEntries(
    Object.keys(firebaseExports)
      .filter(isModule)
      .map((name) => [`${name}.js`, textOf(name)]),
  ),
  [compatModule]: 'const { firebase } = globalThis\nexport { firebase }\nexport default firebase\n',
  [compatScript]: '// The page has this interface already.\n',
})
