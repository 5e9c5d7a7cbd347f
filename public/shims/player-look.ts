/** Returns the hue of a player, in degrees: always the same for an id. */
const hueOf = (player: string): number =>
  [...player].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 360, 7)

/** Returns the color of a player. */
export const colorOf = (player: string): string => `hsl(${hueOf(player)} 60% 55%)`

/** Returns a picture of a player: a disc in their color. */
export function avatarOf(player: string): string {
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='${colorOf(player)}'/></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

const avatarPath = /^https:\/\/images\.websim\.(?:ai|com)\/avatar\/([^/?#]+)/

/** Shows pictures of players where pages name those of websim, which the sandbox does not load. */
export function replaceAvatars(): void {
  addEventListener(
    'error',
    (event) => {
      const { target } = event
      if (!(target instanceof HTMLImageElement)) return
      const [, name] = avatarPath.exec(target.src) ?? []
      if (name === undefined) return
      event.stopImmediatePropagation()
      target.src = avatarOf(decodeURIComponent(name))
    },
    { capture: true },
  )
}
