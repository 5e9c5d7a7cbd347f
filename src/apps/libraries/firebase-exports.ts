/**
 * The exports of the modules of Firebase that pages get here, by module. A module that lacks a name
 * which a page imports would not run at all.
 */
export const firebaseExports = {
  app: [
    'FirebaseError',
    'SDK_VERSION',
    'deleteApp',
    'getApp',
    'getApps',
    'initializeApp',
    'onLog',
    'registerVersion',
    'setLogLevel',
  ],
  auth: [
    'EmailAuthProvider',
    'FacebookAuthProvider',
    'GithubAuthProvider',
    'GoogleAuthProvider',
    'OAuthProvider',
    'TwitterAuthProvider',
    'beforeAuthStateChanged',
    'browserLocalPersistence',
    'browserPopupRedirectResolver',
    'browserSessionPersistence',
    'connectAuthEmulator',
    'createUserWithEmailAndPassword',
    'deleteUser',
    'fetchSignInMethodsForEmail',
    'getAdditionalUserInfo',
    'getAuth',
    'getIdToken',
    'getIdTokenResult',
    'getRedirectResult',
    'inMemoryPersistence',
    'indexedDBLocalPersistence',
    'initializeAuth',
    'isSignInWithEmailLink',
    'onAuthStateChanged',
    'onIdTokenChanged',
    'reload',
    'sendPasswordResetEmail',
    'setPersistence',
    'signInAnonymously',
    'signInWithCustomToken',
    'signInWithEmailAndPassword',
    'signInWithPopup',
    'signInWithRedirect',
    'signOut',
    'updateProfile',
    'useDeviceLanguage',
  ],
  firestore: [
    'Bytes',
    'CACHE_SIZE_UNLIMITED',
    'CollectionReference',
    'DocumentReference',
    'DocumentSnapshot',
    'FieldPath',
    'FieldValue',
    'Firestore',
    'FirestoreError',
    'GeoPoint',
    'Query',
    'QueryDocumentSnapshot',
    'QuerySnapshot',
    'Timestamp',
    'Transaction',
    'WriteBatch',
    'addDoc',
    'and',
    'arrayRemove',
    'arrayUnion',
    'average',
    'clearIndexedDbPersistence',
    'collection',
    'collectionGroup',
    'connectFirestoreEmulator',
    'count',
    'deleteDoc',
    'deleteField',
    'disableNetwork',
    'doc',
    'documentId',
    'enableIndexedDbPersistence',
    'enableMultiTabIndexedDbPersistence',
    'enableNetwork',
    'endAt',
    'endBefore',
    'getAggregateFromServer',
    'getCountFromServer',
    'getDoc',
    'getDocFromCache',
    'getDocFromServer',
    'getDocs',
    'getDocsFromCache',
    'getDocsFromServer',
    'getFirestore',
    'increment',
    'initializeFirestore',
    'limit',
    'limitToLast',
    'memoryEagerGarbageCollector',
    'memoryLocalCache',
    'memoryLruGarbageCollector',
    'onSnapshot',
    'or',
    'orderBy',
    'persistentLocalCache',
    'persistentMultipleTabManager',
    'persistentSingleTabManager',
    'query',
    'queryEqual',
    'refEqual',
    'runTransaction',
    'serverTimestamp',
    'setDoc',
    'setLogLevel',
    'startAfter',
    'startAt',
    'sum',
    'terminate',
    'updateDoc',
    'waitForPendingWrites',
    'where',
    'writeBatch',
  ],
  analytics: [
    'getAnalytics',
    'initializeAnalytics',
    'isSupported',
    'logEvent',
    'setAnalyticsCollectionEnabled',
    'setUserId',
    'setUserProperties',
  ],
  'app-check': [
    'CustomProvider',
    'ReCaptchaEnterpriseProvider',
    'ReCaptchaV3Provider',
    'getToken',
    'initializeAppCheck',
    'onTokenChanged',
    'setTokenAutoRefreshEnabled',
  ],
  performance: ['getPerformance', 'initializePerformance', 'trace'],
} as const

const words = (text: string): string[] => text.trim().split(/\s+/)

/** Names that these modules have beyond that, and modules without a counterpart. Each throws. */
export const firebaseAbsent: Readonly<Record<string, readonly string[]>> = {
  auth: words(`ActionCodeOperation ActionCodeURL AuthCredential AuthErrorCodes EmailAuthCredential
    FactorId OAuthCredential OperationType PhoneAuthCredential PhoneAuthProvider
    PhoneMultiFactorGenerator ProviderId RecaptchaVerifier SAMLAuthProvider SignInMethod
    TotpMultiFactorGenerator TotpSecret applyActionCode browserCookiePersistence checkActionCode
    confirmPasswordReset debugErrorMap getMultiFactorResolver initializeRecaptchaConfig
    linkWithCredential linkWithPhoneNumber linkWithPopup linkWithRedirect multiFactor
    parseActionCodeURL prodErrorMap reauthenticateWithCredential reauthenticateWithPhoneNumber
    reauthenticateWithPopup reauthenticateWithRedirect revokeAccessToken sendEmailVerification
    sendSignInLinkToEmail signInWithCredential signInWithEmailLink signInWithPhoneNumber unlink
    updateCurrentUser updateEmail updatePassword updatePhoneNumber validatePassword
    verifyBeforeUpdateEmail verifyPasswordResetCode`),
  firestore: words(`AggregateField AggregateQuerySnapshot LoadBundleTask
    PersistentCacheIndexManager QueryCompositeFilterConstraint QueryConstraint QueryEndAtConstraint
    QueryFieldFilterConstraint QueryLimitConstraint QueryOrderByConstraint QueryStartAtConstraint
    SnapshotMetadata VectorValue aggregateFieldEqual aggregateQuerySnapshotEqual
    deleteAllPersistentCacheIndexes disablePersistentCacheIndexAutoCreation
    documentSnapshotFromJSON enablePersistentCacheIndexAutoCreation getPersistentCacheIndexManager
    loadBundle maximum minimum namedQuery onSnapshotResume onSnapshotsInSync querySnapshotFromJSON
    setIndexConfiguration snapshotEqual vector`),
  ai: words(`AIModel BackendType GoogleAIBackend HarmBlockThreshold HarmCategory ImagenModel
    ResponseModality Schema SchemaType VertexAIBackend getAI getGenerativeModel getImagenModel
    getLiveGenerativeModel getTemplateGenerativeModel getVertexAI`),
  database: words(`DataSnapshot Database OnDisconnect QueryConstraint TransactionResult child
    connectDatabaseEmulator enableLogging endAt endBefore equalTo forceLongPolling
    forceWebSockets get getDatabase goOffline goOnline increment limitToFirst limitToLast off
    onChildAdded onChildChanged onChildMoved onChildRemoved onDisconnect onValue orderByChild
    orderByKey orderByPriority orderByValue push query ref refFromURL remove runTransaction
    serverTimestamp set setPriority setWithPriority startAfter startAt update`),
  functions: words(`FunctionsError connectFunctionsEmulator getFunctions httpsCallable
    httpsCallableFromURL`),
  messaging: words(`deleteToken getMessaging getToken isSupported onMessage`),
  'remote-config': words(`activate ensureInitialized fetchAndActivate fetchConfig getAll getBoolean
    getNumber getRemoteConfig getString getValue isSupported onConfigUpdate setLogLevel`),
  storage: words(`StorageError StringFormat connectStorageEmulator deleteObject getBlob getBytes
    getDownloadURL getMetadata getStorage getStream list listAll ref updateMetadata uploadBytes
    uploadBytesResumable uploadString`),
}

export type FirebaseModule = keyof typeof firebaseExports
/** The global member with the modules, which no page names by chance. */
export const firebaseKey = 'service.firebase'
