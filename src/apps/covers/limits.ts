/** Uploaded screenshots of an app. */
export const screenshotsMax = 5

/** Newest versions that one job captures. Older ones that it missed stay without a cover. */
export const capturedVersionsMax = 5
