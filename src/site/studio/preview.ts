import { type Html, html, type Part } from '../../kernel/html.ts'
import type { AppContext } from '../../server/context.ts'
import { frameUrl } from '../layout.ts'

interface Preview {
  title: string
  /** The path of a version; undefined until a script shows a page. */
  at?: string | undefined
}

/**
 * An app in the sandbox, inside a page with `frames: true`. Its script creates the frame, adds the
 * widths of devices and keeps no saves. Without scripts, no app can run: `instead` is shown.
 */
export const appPreview = ({ urls }: AppContext, { title, at }: Preview, instead?: Part): Html =>
  html`<app-preview
    data-title="${title}"
    data-frame="${frameUrl(urls)}"
    ${at !== undefined && html` data-at="${at}"`}
    ${at === undefined && html` hidden`}
    ><noscript>${instead}</noscript></app-preview
  >`
