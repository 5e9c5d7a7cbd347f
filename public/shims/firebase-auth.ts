/**
 * Sign-in of Firebase: the player, who is asked by the bar of the shell. Source:
 * https://firebase.google.com/docs/reference/js/auth (November 2026).
 */
import { db } from './bridge-calls.ts'
import { FirebaseError, firebaseError } from './firebase-error.ts'

interface User {
  uid: string
  displayName: string | null
  email: null
  photoURL: string | null
  isAnonymous: boolean
  emailVerified: boolean
  providerData: object[]
  phoneNumber: null
  providerId: string
  refreshToken: string
  metadata: object
  delete(): Promise<void>
  getIdToken(): Promise<string>
  getIdTokenResult(): Promise<object>
  reload(): Promise<void>
  updateProfile(given: Partial<User>): Promise<void>
}

type OnUser = (user: User | null) => void

const listeners = new Set<OnUser>()

class Auth {
  currentUser: User | null = null
  languageCode: string | null = null
  readonly settings = {}
  readonly name = '[DEFAULT]'
  authStateReady = async (): Promise<void> => undefined
  onAuthStateChanged = (next: OnUser | { next: OnUser }): (() => void) =>
    onAuthStateChanged(this, next)
  onIdTokenChanged = this.onAuthStateChanged
  setPersistence = async (): Promise<void> => undefined
  useDeviceLanguage = (): void => undefined
  signOut = (): Promise<void> => signOut()
}

const auth = new Auth()
const getAuth = (): Auth => auth

function onAuthStateChanged(_: unknown, next: OnUser | { next: OnUser }): () => void {
  const listener = typeof next === 'function' ? next : next.next.bind(next)
  listeners.add(listener)
  void Promise.resolve().then(() => listeners.has(listener) && listener(auth.currentUser))
  return () => void listeners.delete(listener)
}

function setUser(user: User | null): void {
  auth.currentUser = user
  for (const listener of [...listeners]) listener(user)
}

async function signIn(): Promise<{ user: User; providerId: null; operationType: 'signIn' }> {
  const { id: uid, name } = await db.me().catch((error: unknown) => {
    const { message } = firebaseError(error)
    throw new FirebaseError('auth/user-cancelled', message)
  })
  const user: User = {
    uid,
    displayName: name || null,
    email: null,
    photoURL: null,
    isAnonymous: true,
    emailVerified: false,
    providerData: [],
    phoneNumber: null,
    providerId: 'firebase',
    refreshToken: 'player',
    metadata: {},
    delete: () => signOut(),
    getIdToken: async () => 'player',
    getIdTokenResult: () => getIdTokenResult(),
    reload: async () => undefined,
    updateProfile: (given) => updateProfile(user, given),
  }
  if (auth.currentUser?.uid !== uid) setUser(user)
  return { user: auth.currentUser ?? user, providerId: null, operationType: 'signIn' }
}

const signOut = async (): Promise<void> => setUser(null)

async function updateProfile(user: User, given: Partial<User>): Promise<void> {
  const { displayName = user.displayName, photoURL = user.photoURL } = given
  Object.assign(user, { displayName, photoURL })
}

const nothing = (): void => undefined

const getIdTokenResult = async () => ({ token: 'player', claims: {}, signInProvider: 'anonymous' })

const noPasswords = async (): Promise<never> => {
  throw new FirebaseError('auth/operation-not-allowed', 'There are no passwords here.')
}

class Provider {
  /** The player has signed in to no other service. */
  static credential = (): object => ({ accessToken: 'player', idToken: 'player' })
  static credentialFromResult = (_result?: object): object => Provider.credential()
  static credentialFromError = (_error?: object): null => null

  addScope(): this {
    return this
  }
  setCustomParameters(): this {
    return this
  }
}

export const authModule = {
  EmailAuthProvider: Provider,
  FacebookAuthProvider: Provider,
  GithubAuthProvider: Provider,
  GoogleAuthProvider: Provider,
  OAuthProvider: Provider,
  TwitterAuthProvider: Provider,
  beforeAuthStateChanged: () => nothing,
  browserLocalPersistence: { type: 'LOCAL' },
  browserPopupRedirectResolver: {},
  browserSessionPersistence: { type: 'SESSION' },
  inMemoryPersistence: { type: 'NONE' },
  indexedDBLocalPersistence: { type: 'LOCAL' },
  connectAuthEmulator: nothing,
  createUserWithEmailAndPassword: noPasswords,
  deleteUser: signOut,
  fetchSignInMethodsForEmail: async (): Promise<string[]> => [],
  getAdditionalUserInfo: (): null => null,
  getAuth,
  getIdToken: async (): Promise<string> => 'player',
  getIdTokenResult,
  getRedirectResult: async (): Promise<null> => null,
  initializeAuth: getAuth,
  isSignInWithEmailLink: (): boolean => false,
  onAuthStateChanged,
  onIdTokenChanged: onAuthStateChanged,
  reload: async (): Promise<void> => undefined,
  sendPasswordResetEmail: noPasswords,
  setPersistence: async (): Promise<void> => undefined,
  signInAnonymously: signIn,
  signInWithCustomToken: signIn,
  signInWithEmailAndPassword: noPasswords,
  signInWithPopup: signIn,
  signInWithRedirect: signIn,
  signOut,
  updateProfile,
  useDeviceLanguage: nothing,
}
