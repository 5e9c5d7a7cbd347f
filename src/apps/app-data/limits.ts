/** The bounds of the data that an app keeps and shares. Bytes are those of JSON in UTF-8. */
const kb = 1_024
const mb = 1_024 * kb

/** Values of `service.store`. */
export const valueBytesMax = 5 * mb
/** All personal values of one player in an app, and all shared values of an app. */
export const valueBytesPerOwnerMax = 20 * mb
export const valuesPerOwnerMax = 2_000
export const valueKeyCharsMax = 500

/** Documents of `service.db`. */
export const documentBytesMax = 256 * kb
export const documentsPerAppMax = 5_000
export const documentBytesPerAppMax = 64 * mb
export const pathCharsMax = 300
/** Collections and documents by turns: "games/1/moves/2" has four segments. */
export const pathSegmentsMax = 8
/** Removals that are remembered, so that a page that reconnects learns of them. */
export const removalsPerAppMax = 10_000
export const conditionsMax = 10
/** All conditions of a query as JSON: each document is compared with them. */
export const conditionBytesMax = 4 * kb
/** Values of `in` and `not-in`. */
export const conditionValuesMax = 30
export const ordersMax = 3
export const leaseHolderCharsMax = 100
export const leaseMsMax = 3_600_000

/** Writes of one batch, and their data as JSON. */
export const batchWritesMax = 100

/** Documents that a server keeps parsed in memory. */
export const cachedDocumentBytesMax = 64 * mb

/** Documents that one query returns. */
export const queryBytesMax = 16 * mb

/** Records of a page of their list, for the maker. At least one is listed. */
export const recordPageBytesMax = 8 * mb

/** A call carries one value; JSON may escape its characters. */
export const dataBodyBytesMax = 2 * valueBytesMax
export const playerNameCharsMax = 40
export const playerIdChars = 20
/** Days after which a guest who left nothing is forgotten. */
export const guestDays = 30

/** Files of `service.files`, of one player in an app and of all its players. */
export const uploadBytesPerPlayerMax = 20 * mb
export const uploadsPerPlayerMax = 200
export const uploadBytesPerAppMax = 100 * mb
export const uploadsPerAppMax = 2_000

/** Boards of `service.scores`: each player has one score on each. */
export const boardsPerAppMax = 50
export const boardNameCharsMax = 40
export const scoresPerAppMax = 20_000
/** Larger numbers lose digits. */
export const scoreMax = Number.MAX_SAFE_INTEGER

/** Challenges to friends. Of a player, the newest stay. */
export const challengesPerPlayerMax = 20
export const challengesPerAppMax = 5_000
export const challengeDays = 30
/** A seed is a number of 32 bits. */
export const seedMax = 2 ** 32 - 1

/** The live connection of an open page. */
export const watchesPerPageMax = 64
export const roomsPerPageMax = 8
export const livePagesPerServerMax = 10_000
/** A message of the page. Longer ones end the connection. */
export const liveMessageBytesMax = 64 * kb
/** Presence in eight rooms, 40 times a second each, and 80 other messages. */
export const liveMessagesPerSecond = 400

/** Rooms of `service.room`. */
export const roomNameCharsMax = 100
export const roomMessageBytesMax = 4 * kb
export const roomMessagesPerSecond = 40
export const roomPlayersMax = 64
/** Presence that changes more often reaches the others so often. */
export const presenceMs = 25
