/** Sizes of covers and screenshots in pixels, 16:10. Tiles show the small one. */
export const largeSize = { width: 960, height: 600 }
export const smallSize = { width: 480, height: 300 }
