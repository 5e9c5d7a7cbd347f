/**
 * The older interface of Firebase: the global `firebase` with `initializeApp`, `auth()` and
 * `firestore()`, of the builds "-compat" and of versions before 9. It calls the modules of
 * firebase.ts. Source: https://firebase.google.com/docs/reference/js/v8 (November 2026).
 */
import { firebaseKey } from '../../src/apps/libraries/firebase-exports.ts'
import { put } from '../frame/quiet.ts'
import { compatFirestore } from './firebase-compat-firestore.ts'
import { unsupported } from './firebase-error.ts'
import type { FirebaseModules } from './firebase.ts'
import { countAsLoaded } from './loaded-script.ts'

const modules: FirebaseModules = Reflect.get(window, Symbol.for(firebaseKey))
const { app, auth, analytics } = modules
const fs = modules.firestore

const own = auth.getAuth()

type OnUser = Parameters<typeof auth.onAuthStateChanged>[1]

const persistence = { LOCAL: 'local', SESSION: 'session', NONE: 'none' }

const compatAuth = {
  get currentUser() {
    return own.currentUser
  },
  onAuthStateChanged: (next: OnUser) => auth.onAuthStateChanged(own, next),
  onIdTokenChanged: (next: OnUser) => auth.onIdTokenChanged(own, next),
  signInAnonymously: () => auth.signInAnonymously(),
  signInWithCustomToken: () => auth.signInWithCustomToken(),
  signInWithPopup: () => auth.signInWithPopup(),
  signInWithRedirect: () => auth.signInWithRedirect(),
  getRedirectResult: async () => ({ user: own.currentUser }),
  signInWithEmailAndPassword: auth.signInWithEmailAndPassword,
  createUserWithEmailAndPassword: auth.createUserWithEmailAndPassword,
  sendPasswordResetEmail: auth.sendPasswordResetEmail,
  signOut: auth.signOut,
  setPersistence: auth.setPersistence,
  useEmulator: (): void => undefined,
  useDeviceLanguage: (): void => undefined,
}

const parts = {
  auth: Object.assign(() => compatAuth, {
    Auth: { Persistence: persistence },
    GithubAuthProvider: auth.GithubAuthProvider,
    GoogleAuthProvider: auth.GoogleAuthProvider,
  }),
  firestore: Object.assign(() => compatFirestore, {
    Blob: fs.Bytes,
    FieldPath: Object.assign(fs.FieldPath, { documentId: fs.documentId }),
    FieldValue: {
      arrayRemove: fs.arrayRemove,
      arrayUnion: fs.arrayUnion,
      delete: fs.deleteField,
      increment: fs.increment,
      serverTimestamp: fs.serverTimestamp,
    },
    GeoPoint: fs.GeoPoint,
    Timestamp: fs.Timestamp,
    setLogLevel: fs.setLogLevel,
  }),
  analytics: () => ({
    logEvent: analytics.logEvent,
    setUserId: analytics.setUserId,
    setUserProperties: analytics.setUserProperties,
  }),
}

/** Products without a counterpart here. */
const absent = Object.fromEntries(
  ['database', 'functions', 'messaging', 'remoteConfig', 'storage'].map((name) => [
    name,
    unsupported(`firebase.${name}()`),
  ]),
)

type App = ReturnType<typeof app.initializeApp>
const opened = (one: App) =>
  Object.assign(one, { ...absent, ...parts, delete: (): Promise<void> => app.deleteApp(one) })

put(window, 'firebase', {
  SDK_VERSION: app.SDK_VERSION,
  initializeApp: (options?: object, name?: string) => opened(app.initializeApp(options, name)),
  app: (name?: string) => opened(app.getApp(name)),
  get apps() {
    return app.getApps().map(opened)
  },
  ...absent,
  ...parts,
})
// The files of other products stay as failed: nothing here has their interfaces.
countAsLoaded(
  /\/firebasejs\/.*\/firebase(?:-(?:app|auth|firestore|analytics))?(?:-compat)?\.|\/firebase-(?:app|auth|firestore|analytics)-compat/,
)
