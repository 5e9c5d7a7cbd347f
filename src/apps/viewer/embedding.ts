import type { Config } from '../../kernel/config/settings.ts'
import { escapeHtml } from '../../kernel/text.ts'

/** Returns CSP sources of the sites that may show apps in a frame; empty where none may. */
export const embeddersOf = ({ embedOrigins }: Pick<Config, 'embedOrigins'>): string[] =>
  embedOrigins === 'none' ? [] : embedOrigins.split(' ').filter((one) => one !== '')

/** Size of a frame on another site, in pixels. */
export const embedSize = { width: 960, height: 600 }

interface EmbeddedApp {
  /** The public link of the app. */
  link: string
  title: string
  width?: number
  height?: number
}

/** The address of an app in a frame of another site. It has no form and reads no session. */
const embedUrl = (link: string): string => `${link}/embed`

/** Returns the code that shows an app in a frame of another site. Its headers sandbox the frame. */
export function embedCode({ link, title, ...size }: EmbeddedApp): string {
  const { width, height } = { ...embedSize, ...size }
  return `<iframe src="${embedUrl(link)}" title="${escapeHtml(title)}" width="${width}" height="${height}" allow="fullscreen; gamepad; autoplay" style="border:0"></iframe>`
}
