import { type Html, html } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Note } from '../../hosting/notes/notes.ts'
import { momentOf } from '../parts.ts'

/** A note, as an owner sees what the agent was told. */
export const noteItem = ({ kind, text, at, read }: Note): Html =>
  html`<li>
    <bdi dir="ltr">${text}</bdi><br /><span class="small">${kind} · ${momentOf(iso(at))}</span>${
      read === null && html` <span class="badge">Unread</span>`
    }
  </li>`
