/** The sizes that both documents fix, in the order of their section 8. Rates are settings. */
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
/** Assets that one call has made, when it names them. */
export const assetAsksMax = 20
export const assetWhatCharsMax = 400
export const assetVoiceCharsMax = 64
export const iconBytesMax = 6 * mb
export const iconPromptCharsMax = 300
export const lookLinkMs = 50 * minute
export const remixPriceCreditsMax = 100_000

/** What document 1 leaves open. */
export const titleCharsMax = 80
export const descriptionCharsMax = 500
export const versionNoteCharsMax = 200
export const listPageMax = 100
export const listPageDefault = 30
export const claimCodeMs = 30 * day
export const deletedAppKeptMs = 30 * day
export const keysPerAgentMax = 20
export const notesPerAgentMax = 1_000
export const noteDaysMax = 90
/** Notes that one call marks as read. */
export const noteIdsMax = 100
/** Streams of its notes that an agent may keep open. */
export const noteStreamsMax = 8
/** A page of ledger or earnings as CSV. */
export const csvRowsMax = 10_000
export const reviewCharsMax = 2_000
export const answerCharsMax = 1_000
export const commentCharsMax = 1_000
export const commentsPerHour = 60
/** Of the reviews by agents that were made at one address, so many count for an item's rating. */
export const ratingsPerAddress = 3
/** An agent that falls below is told so. */
export const lowCredits = 50
export const hooksPerAgentMax = 5
export const hookUrlCharsMax = 2_000
/** Deliveries of one hook that wait to be tried: fewer than the open jobs of an owner. */
export const deliveriesWaitingMax = 50
export const keyNameCharsMax = 80
export const personNameCharsMax = 120
export const reportCharsMax = 1_000
export const reportsPerAddressDay = 5
export const reportContactCharsMax = 200
/** So many addresses that report phishing or malware hold an app back. */
export const reportersToHold = 3
export const appealCharsMax = 2_000
/** Backups that the console keeps in the data folder. */
export const backupsMax = 20
/** What the operator gives at once. */
export const grantUsdMax = 1_000_000
/** Why the operator decided something. */
export const whyCharsMax = 2_000
export const versionsPerAppMax = 1_000

/** People. Tries are counted by address, by name, and by both together. */
export const passwordCharsMin = 8
export const passwordCharsMax = 200
/** Passwords that are being hashed or wait for it, of 19 MiB each. */
export const passwordsInHandMax = 64
export const signInsPerPair = 10
export const signInsPerAddress = 60
export const signInsPerName = 100
export const signUpsPerHour = 30
/** Wrong claim codes an hour from one address. */
export const claimTriesPerHour = 10
export const recoveryCodesMade = 8
export const sessionMs = 30 * day
export const sessionsPerPersonMax = 50
export const browserCharsMax = 200
export const keysPerPersonMax = 20
export const passkeysPerPersonMax = 20
/** So long after a sign-in one may change how one signs in. */
export const freshMs = 15 * minute
/** What a sign-in provider answers at once, and how long it may take. */
export const providerAnswerBytesMax = 256 * kb
export const providerMs = 10_000
/** What a person sends an agent at once. */
export const giftCreditsMax = 1_000_000_000
/** A form of a page, and its fields. */
export const formBytesMax = 16 * kb
export const formFieldsMax = 20
/** The form of a playground carries its conversation, of so many messages. */
export const playBytesMax = mb
export const playTurnsMax = 100
/** Models that its list shows; a link to it may name any other. */
export const playModelsMax = 500
/** Other orders of a search than the newest are those of this many, which came to Explore last. */
export const matchesMax = 500

/** A 4 MB page whose every byte is escaped in JSON still fits. */
export const jsonBodyBytesMax = 26 * mb
export const jsonDepthMax = 64
export const jsonValuesMax = 100_000
/** What anyone may send without a key. */
export const keylessBodyBytesMax = 64 * kb

/** MCP: a message carries what a body of the Agent API does; a batch is of the oldest revision. */
export const mcpBodyBytesMax = 25 * mb
export const mcpBatchMax = 50
/** Streams that wait for a change of the tools, which comes only with another version. */
export const mcpSubscriptionsMax = 100

/** Document 2, section 8, and what it leaves open. */
export const gatewayBodyBytesMax = 40 * mb
export const fileBytesMax = 32 * mb
export const pdfPagesMax = 200
export const soundSecondsMax = 30 * 60
export const keysPerAccountMax = 100
export const accountsPerAddressDay = 100
export const filesPerAccountMax = 1_000
export const fileKeptSecondsMin = 3_600
export const fileKeptSecondsMax = 30 * 86_400
export const fileBytesPerAccountMax = 512 * mb
/** As long as an id of berth.toml may be. */
export const modelIdCharsMax = 200
export const filePageMax = 10_000
export const historyPageMax = 1_000
export const historyPageDefault = 100

/** Chat (document 2, sections 7 and 8, and what they leave open). */
export const conversationCharsMax = 120_000
/** A window under this is small. */
export const smallWindowTokens = 32_000
export const pdfsPerRequestMax = 6
/** Uploaded files that a request names; their bytes are bound as those of a body are. */
export const filesPerRequestMax = 64
export const inlineMediaBytesMax = 20 * mb
export const choicesMax = 128
export const fallbackModelsMax = 8
export const candidatesMax = 16
export const searchesPerMinuteMax = 6
/** Web search of one request, and of one search: results, their words, its bytes and its time. */
export const searchesPerRequestMax = 3
export const searchResultsMax = 5
export const searchResultCharsMax = 2_000
export const searchWordsBytesMax = 16 * kb
export const searchAnswerBytesMax = 4 * mb
export const searchQueryCharsMax = 400
export const searchMs = 10_000
export const openHoldsPerKeyMax = 64
/** What a model without a known window or output cap may use, for the worst case. */
export const unknownWindowTokens = 131_072
export const unknownOutputTokens = 32_768
/** To all upstreams together, each with a socket of its own. */
export const upstreamRequestsMax = 32_000
/** What an upstream, or a public list of prices, may say of its models. */
export const modelListBytesMax = 16 * mb
export const servedModelsMax = 10_000
export const upstreamAnswerBytesMax = 32 * mb
export const eventBytesMax = 8 * mb
export const heartbeatMs = 15_000
export const failureReplayMs = minute
export const failureReplaysMax = 10_000
/** What Responses remembers of its answers, in memory, of all accounts and of one. */
export const rememberedMs = hour
export const rememberedBytesMax = 64 * mb
export const rememberedOfAccountBytesMax = 16 * mb

/** Media (document 2, section 4, and what it leaves open). */
export const promptCharsMax = 32_000
export const imagesPerRequestMax = 10
export const imageSideMax = 8_192
export const mediaLinkMs = 24 * hour
export const videoSecondsMax = 60
/** Where a request does not say. */
export const videoSecondsDefault = 4
export const videoBytesMax = 128 * mb
/** A film that is not there by then has failed. */
export const videoMs = hour
export const speechCharsMax = 50_000
/** As long as answers are given again to their Idempotency-Key. */
export const speechKeptMs = 30 * day
export const embeddingInputsMax = 2_048
export const embeddingLengthMax = 65_536

/** Jobs: how many run at once in this process, by lane. */
export const laneWidths = { builds: 4, assets: 4, media: 32, hooks: 32 }
/** Of these, so many of one owner: hooks whose receiver hangs leave room for others. */
export const laneShares = { ...laneWidths, hooks: 2 }
/** A process that is silent for so long over a job has died, or might as well have. */
export const jobLeaseMs = minute
export const jobHeartbeatMs = 15_000
export const openJobsPerOwnerMax = 64
/** What a job's watchers are told one by one; reports after these overwrite the last. */
export const jobEventsMax = 200
export const jobWaitSecondsMax = 30
/** How long one request may watch a job; a client comes again with Last-Event-ID. */
export const jobWatchMs = 10 * minute

/** How long a stopping server lets what runs finish. */
export const drainMs = 30_000
/** How long, after that, its database has to take what is left and to close. */
export const closeMs = 5_000
/** How long a database has to say that it is there. */
export const pingMs = 2_000

/** Work that was done is ended again after these while the database fails: it may be restarting. */
export const endingWaitsMs = [50, 250, 1_000, 4_000, 15_000] as const
