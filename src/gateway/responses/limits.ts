/** Stored responses (`store`): one with its input, those of an account, and a conversation. */
const mb = 1_048_576
export const storedResponseBytesMax = 4 * mb
export const storedResponsesPerAccountMax = 10_000
export const storedResponseBytesPerAccountMax = 64 * mb
export const conversationResponsesMax = 500
export const conversationBytesMax = 16 * mb
export const responseItemsPageMax = 100
