/** How large a made picture is when nothing is said, in pixels. */
export const measures = {
  sprite: { width: 128, height: 128 },
  picture: { width: 960, height: 540 },
}
