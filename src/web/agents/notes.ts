import { type Html, html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Note } from '../../hosting/notifications/notifications.ts'
import { renderDateTime } from '../components.ts'

/** A note whose quotes stand by themselves: two that are read from the right change places. */
const isolateQuotes = (text: string): Part =>
  text
    .split(/(?<=“)([^”]+)(?=”)/)
    .map((piece, at) => (at % 2 === 1 ? html`<bdi>${piece}</bdi>` : piece))

/** A note, as an owner sees what the agent was told. */
export const renderNote = ({ kind, text, at, read }: Note): Html =>
  html`<li>
    <bdi dir="ltr">${isolateQuotes(text)}</bdi><br /><span class="small"
      >${kind} · ${renderDateTime(iso(at))}</span
    >${read === null && html` <span class="badge">Unread</span>`}
  </li>`
