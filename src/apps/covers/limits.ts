/** Uploaded screenshots of an app. */
export const screenshotsMax = 5

/** Newest versions that one job captures. Older ones that it missed stay without a cover. */
export const capturedVersionsMax = 5

/** Sizes of covers and screenshots in pixels, 16:10. Tiles show the small one. */
export const largeSize = { width: 960, height: 600 }
export const smallSize = { width: 480, height: 300 }
