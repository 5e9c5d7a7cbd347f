/**
 * The limits of the server: first those of both documents, in the order of their section 8, then
 * those that they leave open. Rates are settings.
 */
const kb = 1_024
const mb = 1_024 * kb
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Document 1, section 8. */
export const aboutCharsMax = 160
export const htmlBytesMax = 4 * mb
export const assetBytesMax = 4 * mb
export const assetsPerAppMax = 300
export const assetBytesPerAppMax = 64 * mb
export const buildPromptCharsMax = 8_000
/** Assets that one request generates. */
export const generatedAssetsMax = 20
export const assetPromptCharsMax = 400
export const assetVoiceCharsMax = 64
export const iconBytesMax = 6 * mb
export const iconPromptCharsMax = 300
export const previewLinkMs = 50 * minute
export const remixPriceCreditsMax = 100_000

/** The most files of a folder that FOLDER_FILES may allow, and a file of it. */
export const folderFilesMax = 10_000
export const folderFileBytesMax = 64 * mb

/** Limits that document 1 leaves open. */
export const titleCharsMax = 80
export const descriptionCharsMax = 500
export const versionNoteCharsMax = 200
/** A call of `service.ai`: the text, and the pictures and files beside it. */
export const aiTextBytesMax = 64 * kb
export const aiFileBytesMax = 20 * mb
/** Changes of a patch, and characters of a text in it and of the diffs of two versions. */
export const patchEditsMax = 100
export const patchCharsMax = mb
/** People and groups of an audience, and share links of an app. */
export const audienceMembersMax = 200
export const shareLinksPerAppMax = 20
export const shareLinkNameCharsMax = 80
/** Wrong passwords of an app by a network, per quarter of an hour. */
export const appPasswordTries = 10
/** Groups of people, and the members that the operator adds to one. */
export const groupsMax = 200
export const groupMembersMax = 500
/** Groups of a person that the sign-in provider names. */
export const providedGroupsMax = 100
/** Errors of pages: the text of one, those of a report, and those that a version keeps. */
export const errorTextCharsMax = 300
export const errorsPerReportMax = 20
export const errorsPerVersionMax = 100
/** Networks that must send an error before its maker reads its whole text. */
export const errorNetworksMin = 3
/** Errors of an app that a network sends a day, early ones of a version, and times of each. */
export const errorsPerNetworkDay = 3
export const earlyErrorsPerNetworkDay = 20
export const errorTimesPerNetworkDay = 20
/** Texts of the source of a page that its errors are compared with, and bytes that are read. */
export const knownTextsMax = 100
export const knownTextBytesMax = mb
export const appErrorDays = 30
/** The body of such a call, whose files are base64. */
export const aiBodyBytesMax = 28 * mb
/** Percent that a maker may add to what players pay for models. */
export const aiMarginPercentMax = 50
/** Output tokens of a call that names no limit. */
export const aiOutputTokens = 4_096
/** Running calls of one player in one app. */
export const aiCallsPerPlayer = 8
/** The highest cap of one app and day that a player can set, in credits. */
export const consentCreditsMax = 100_000
export const listPageMax = 100
export const listPageDefault = 30
export const claimCodeMs = 30 * day
export const deletedAppKeptMs = 30 * day
export const keysPerAgentMax = 20
export const notesPerAgentMax = 1_000
export const noteDaysMax = 90
/** Notes that one request marks as read. */
export const noteIdsMax = 100
/** Open event streams of notes per agent. */
export const noteStreamsMax = 8
/** Idle streams of notes send a comment so often. Proxies close them after 60 s without. */
export const noteHeartbeatMs = 45_000
/** Rows of a ledger or of earnings as CSV. */
export const csvRowsMax = 10_000
export const reviewCharsMax = 2_000
export const replyCharsMax = 1_000
export const commentCharsMax = 1_000
export const commentsPerHour = 60
/** Reviews by agents of one address that count for the rating of an app. */
export const ratingsPerAddress = 3
/** The balance below which an agent gets a note. */
export const lowCredits = 50
export const hooksPerAgentMax = 5
export const hookUrlCharsMax = 2_000
/** Waiting deliveries of one webhook: fewer than the open jobs of an owner. */
export const deliveriesWaitingMax = 50
export const keyNameCharsMax = 80
export const personNameCharsMax = 120
export const reportCharsMax = 1_000
export const reportsPerAddressDay = 5
export const reportContactCharsMax = 200
/** Addresses that must report phishing or malware before an app is quarantined. */
export const reportersToQuarantine = 3
export const appealCharsMax = 2_000
/** Backups of the console in the data folder. */
export const backupsMax = 20
/** USD of one grant. */
export const grantUsdMax = 1_000_000
/** The reason of a decision. */
export const decisionReasonCharsMax = 2_000
export const versionsPerAppMax = 1_000
/** Calls of a player for the data of one app. */
export const dataCallsPerMinute = 600
/** Scores that a player submits to the boards of one app. */
export const scoresPerMinute = 30
/** Attempts of a network to enter the room of controllers with a code, in one app. */
export const controllerCodesPerMinute = 60
/** Open pages of a player with a live connection, in one app. */
export const livePagesPerPlayerMax = 8
/** Open pages of a network (/24 of IPv4, /56 of IPv6): a tenth of those of a server. */
export const livePagesPerNetworkMax = 1_000
/** Guests of a network who begin to share data with an app. */
export const newGuestsPerHour = 500
/** Bytes that all guests of an app add to its data in a day, and each of them. */
export const guestBytesPerAppDay = 8_388_608
export const guestBytesPerDay = 2_097_152

/**
 * People. Wrong passwords of unknown devices count by address prefix, and by prefix and name. A
 * name under attack lowers the rate of each prefix, but not below one (docs/decisions/0058).
 */
export const passwordCharsMin = 8
export const passwordCharsMax = 200
/** Password hashes that run or wait. Each takes 19 MiB. */
export const passwordHashesMax = 64
export const signInsPerAddressAndName = 10
export const signInsPerAddress = 60
/** Wrong passwords of a name in an hour from which on an attempt counts five or ten times. */
export const nameAttack = { fiveTimes: 100, tenTimes: 1_000 } as const
/** Attempts of a device that has signed in before, per quarter of an hour. */
export const signInsPerDevice = 10
export const deviceSlotsPerPerson = 20
/** People whom one browser remembers. */
export const devicesPerBrowserMax = 5
export const deviceMs = 365 * day
export const signUpsPerHour = 30
/** Wrong codes of claims and devices per hour from one address. */
export const claimTriesPerHour = 10
/** Sign-ins of devices: their lifetime, the pause between their polls, and starts by address. */
export const deviceCodeMs = 15 * minute
export const devicePollSeconds = 5
export const deviceCodesPerHour = 30
/** Sign-ins of devices that wait at the same time. */
export const deviceCodesMax = 10_000
/**
 * Connectors: the lifetimes of a code, of a token and of a connector that is not used; those of a
 * person, and codes that a person has not used. Lifetimes of a registered client that no person
 * approved, and of one that is no longer used.
 */
export const authorizationCodeMs = 2 * minute
export const connectorTokenMs = hour
export const connectorMs = 90 * day
/** The time in which a client may repeat a refresh, whose response it lost. */
export const refreshLeewayMs = 30_000
export const connectorsPerPersonMax = 50
export const codesPerPersonMax = 20
export const clientRegistrationsPerHour = 20
export const clientsMax = 10_000
export const unusedClientMs = 7 * day
export const clientMs = 180 * day
export const redirectUrisMax = 10
export const redirectUriCharsMax = 500
/** The document of a client: its bytes and its time. */
export const clientDocumentBytesMax = 10_240
export const clientDocumentMs = 5_000
export const clientDocumentsPerHour = 60
export const recoveryCodesPerPerson = 8
export const sessionMs = 30 * day
export const sessionsPerPersonMax = 50
export const browserCharsMax = 200
export const keysPerPersonMax = 20
export const passkeysPerPersonMax = 20
/** The time after a sign-in in which a person may change sign-in methods. */
export const recentSignInMs = 15 * minute
/** The response of an identity provider: its bytes and its time. */
export const identityResponseBytesMax = 256 * kb
export const identityTimeoutMs = 10_000
/** Credits of one gift of a person to an agent. */
export const giftCreditsMax = 1_000_000_000
/** A form of a web page: its bytes and fields. */
export const formBytesMax = 16 * kb
export const formFieldsMax = 20
/** The HTML of a draft that a sign-up form carries, and the form with it. */
export const draftHtmlBytesMax = 128 * kb
export const draftFormBytesMax = 512 * kb
/** The form of the playground, which carries its conversation, and the messages in it. */
export const playBytesMax = mb
export const playTurnsMax = 100
/** Models in the list of the playground. A link to it may name any other. */
export const playModelsMax = 500
/** The newest matches of a search that other orders than "newest" sort. */
export const matchesMax = 500

/** Fits a 4 MB page of which JSON escapes every byte. */
export const jsonBodyBytesMax = 26 * mb
export const jsonDepthMax = 64
export const jsonValuesMax = 100_000
/** The body of a request without a key. */
export const keylessBodyBytesMax = 64 * kb

/** MCP messages carry the same as bodies of the Agent API. Only the oldest revision has batches. */
export const mcpBodyBytesMax = 25 * mb
export const mcpBatchMax = 50
/** Bytes of the responses of a batch. The last one may exceed them. */
export const mcpBatchResponseBytesMax = mb
/** Lists of tools in memory, each about 80 KB: one for each revision and area. */
export const mcpListsMax = 40
/** Open streams that wait for a change of the tools. */
export const mcpSubscriptionsMax = 100

/** Document 2, section 8, and limits that it leaves open. */
export const gatewayBodyBytesMax = 40 * mb
export const fileBytesMax = 32 * mb
export const pdfPagesMax = 200
export const audioSecondsMax = 30 * 60
export const keysPerAccountMax = 100
export const accountsPerAddressDay = 100
export const filesPerAccountMax = 1_000
export const fileKeptSecondsMin = 3_600
export const fileKeptSecondsMax = 30 * 86_400
export const fileBytesPerAccountMax = 512 * mb
/** For an account that has never been funded: bytes of its files, and of all uploads of a day. */
export const unfundedFileBytesMax = 32 * mb
export const unfundedUploadBytesPerPrefixDay = 256 * mb
/** Uploads of unfunded accounts stop at this multiple of DISK_FLOOR_BYTES. */
export const unfundedDiskFloors = 5
/** The length of an id in berth.toml. */
export const modelIdCharsMax = 200
export const filePageMax = 10_000
/** The models of a page in the lists of other APIs. */
export const listedModelsMax = 1_000
/** The most videos in a page of their list, as at OpenAI. */
export const videoPageMax = 100
export const historyPageMax = 1_000
export const historyPagesMax = 1_000_000_000
export const historyPageDefault = 100

/** Chat (document 2, sections 7 and 8, and limits that they leave open). */
export const conversationCharsMax = 120_000
/** A context window below this is small. */
export const smallWindowTokens = 32_000
export const pdfsPerRequestMax = 6
/** Uploaded files that a request references. Their bytes count as those of a body. */
export const filesPerRequestMax = 64
export const inlineMediaBytesMax = 20 * mb
export const choicesMax = 128
export const fallbackModelsMax = 8
export const candidatesMax = 16
export const searchesPerMinuteMax = 6
/** Web search: searches of a request; results, text, bytes and time of a search. */
export const searchesPerRequestMax = 3
export const searchResultsMax = 5
export const searchResultCharsMax = 2_000
export const searchResultTextBytesMax = 16 * kb
export const searchResponseBytesMax = 4 * mb
export const searchQueryCharsMax = 400
export const searchMs = 10_000
/** Running requests of a key, by default (RUNNING_REQUESTS_PER_KEY), and the most of a setting. */
export const runningPerKey = 64
export const runningPerKeyMax = 10_000
/** Assumed for the maximum cost where the window or output limit of a model is unknown. */
export const unknownWindowTokens = 131_072
export const unknownOutputTokens = 32_768
/** Simultaneous requests to all upstreams. Each has its own socket. */
export const upstreamRequestsMax = 32_000
/** The list of models of an upstream, or a public list of prices. */
export const modelListBytesMax = 16 * mb
export const servedModelsMax = 10_000
export const upstreamResponseBytesMax = 32 * mb
export const eventBytesMax = 8 * mb
export const heartbeatMs = 15_000
export const failureReplayMs = minute
export const failureReplaysMax = 10_000
/** Items of the Responses API in memory: their lifetime, bytes of all and of one account. */
export const responseItemMs = hour
export const responseItemBytesMax = 64 * mb
export const responseItemBytesPerAccountMax = 16 * mb
/** Media (document 2, section 4, and limits that it leaves open). */
export const promptCharsMax = 32_000
export const imagesPerRequestMax = 10
export const imageSideMax = 8_192
export const mediaLinkMs = 24 * hour
export const videoSecondsMax = 60
/** The default of a request. */
export const videoSecondsDefault = 4
export const videoBytesMax = 128 * mb
/** All images of one response that are fetched from URLs of an upstream. */
export const fetchedImageBytesMax = 128 * mb
/** The time after which an unfinished video has failed. */
export const videoMs = hour
export const speechCharsMax = 50_000
/** As long as stored responses of Idempotency-Keys. */
export const speechKeptMs = 30 * day
export const embeddingInputsMax = 2_048
export const embeddingLengthMax = 65_536

/** WebSockets: a message of the client, and the time after which a silent connection is closed. */
export const socketMessageBytesMax = 4 * mb
export const socketIdleMs = 120_000
export const realtimeSessionsPerKeyMax = 8

/** The time without a heartbeat after which the process of a job counts as dead. */
export const jobLeaseMs = minute
export const jobHeartbeatMs = 15_000
export const openJobsPerOwnerMax = 64
/** Separate events of a job. Later ones overwrite the last. */
export const jobEventsMax = 200
export const jobWaitSecondsMax = 30
/** The time a request may watch a job. Clients continue with Last-Event-ID. */
export const jobWatchMs = 10 * minute

/** The time in which a stopping server finishes running requests and jobs. */
export const drainMs = 24_000
/** The time after that in which cut streams send their last event. */
export const cutMs = 2_000
/** The time after that in which the database takes the last writes and closes. */
export const closeMs = 3_000
/** The time in which a database must answer a ping. */
export const pingMs = 2_000

/**
 * Pauses between attempts to settle finished work while the database fails. The last one repeats.
 */
export const settleRetryMsMax = 15_000
export const settleRetriesMs = [50, 250, 1_000, 4_000, settleRetryMsMax] as const
/** The time after which an attempt to settle counts as failed. It may still commit. */
export const settleAttemptMs = 6_000
/** The time that the client of finished work waits for a settlement that failed at first. */
export const settleWaitMs = 20_000
/** Settlements that wait for the database, after which no new paid work begins. */
export const pendingOutcomesMax = 10_000
