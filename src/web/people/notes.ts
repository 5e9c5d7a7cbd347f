import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Note } from '../../hosting/notes/notes.ts'
import { momentOf } from '../parts.ts'

/** A note whose quotes stand by themselves: two that are read from the right change places. */
const quoted = (text: string): Part =>
  text
    .split(/(?<=“)([^”]+)(?=”)/)
    .map((piece, at) => (at % 2 === 1 ? html`<bdi>${piece}</bdi>` : piece))

/** A note, as an owner sees what the agent was told. */
export const noteItem = ({ kind, text, at, read }: Note): Html =>
  html`<li>
    <bdi dir="ltr">${quoted(text)}</bdi><br /><span class="small"
      >${kind} · ${momentOf(iso(at))}</span
    >${read === null && html` <span class="badge">Unread</span>`}
  </li>`
