/**
 * Firebase of pages of Gemini canvas, over `service.db`: what the modules of
 * src/apps/libraries/host-modules.ts hand on. Sources: pages of Gemini canvas (November 2026), and
 * https://firebase.google.com/docs/reference/js.
 */
import {
  firebaseExports,
  firebaseKey,
  type FirebaseModule,
} from '../../src/apps/libraries/firebase-exports.ts'
import { authModule } from './firebase-auth.ts'
import { absent, FirebaseError } from './firebase-error.ts'
import { firestoreModule } from './firebase-firestore.ts'
import './gemini-globals.ts'

interface App {
  name: string
  options: object
  automaticDataCollectionEnabled: boolean
}

const apps = new Map<string, App>()

function initializeApp(options: object = {}, given: string | { name?: string } = {}): App {
  const name = (typeof given === 'string' ? given : given.name) ?? '[DEFAULT]'
  const app = apps.get(name) ?? { name, options, automaticDataCollectionEnabled: false }
  apps.set(name, app)
  return app
}

function getApp(name = '[DEFAULT]'): App {
  const app = apps.get(name)
  if (app) return app
  throw new FirebaseError('app/no-app', `No Firebase app "${name}" has been created.`)
}

const nothing = (): void => undefined

/** The provider of a check that no server needs here. */
class CheckProvider {}

const modules = {
  app: {
    FirebaseError,
    SDK_VERSION: '12.0.0',
    deleteApp: async ({ name }: App): Promise<void> => void apps.delete(name),
    getApp,
    getApps: () => [...apps.values()],
    initializeApp,
    onLog: nothing,
    registerVersion: nothing,
    setLogLevel: nothing,
  },
  auth: authModule,
  firestore: firestoreModule,
  analytics: {
    getAnalytics: () => ({}),
    initializeAnalytics: () => ({}),
    isSupported: async () => false,
    logEvent: nothing,
    setAnalyticsCollectionEnabled: nothing,
    setUserId: nothing,
    setUserProperties: nothing,
  },
  'app-check': {
    CustomProvider: CheckProvider,
    ReCaptchaEnterpriseProvider: CheckProvider,
    ReCaptchaV3Provider: CheckProvider,
    getToken: async () => ({ token: 'player' }),
    initializeAppCheck: () => ({}),
    onTokenChanged: () => nothing,
    setTokenAutoRefreshEnabled: nothing,
  },
  performance: {
    getPerformance: () => ({}),
    initializePerformance: () => ({}),
    trace: () => ({ start: nothing, stop: nothing, putMetric: nothing, incrementMetric: nothing }),
  },
} satisfies {
  [Name in FirebaseModule]: Record<(typeof firebaseExports)[Name][number], unknown>
}

export type FirebaseModules = typeof modules

Object.defineProperty(window, Symbol.for(firebaseKey), { value: { ...modules, absent } })
