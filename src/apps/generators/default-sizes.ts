/** Default sizes of generated images, in pixels. */
export const defaultSizes = {
  sprite: { width: 128, height: 128 },
  picture: { width: 960, height: 540 },
}
