import type { Item } from '../../apps/explore/schemas.ts'
import { embedCode, embeddersOf } from '../../apps/viewer/policy.ts'
import { sharingDialog } from '../../apps/viewer/sharing.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'

/** Opens the share dialog of the page. */
export const shareButton: Html = html`<button
  class="button quiet"
  type="button"
  popovertarget="sharing"
>
  Share
</button>`

/** The share dialog of an item. */
export function itemSharing(ctx: AppContext, { id, link, title, embeds }: Item): Html {
  const canEmbed = embeds && embeddersOf(ctx.config).length > 0
  const code = canEmbed ? embedCode({ link, title }) : undefined
  return sharingDialog({ link, qr: `/a/${id}/qr.svg`, code })
}
