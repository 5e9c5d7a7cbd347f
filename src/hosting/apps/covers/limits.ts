/** Uploaded screenshots of an app. */
export const screenshotsMax = 5
