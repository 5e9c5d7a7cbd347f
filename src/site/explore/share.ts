import type { Item } from '../../apps/explore/schemas.ts'
import { embedCode, embeddersOf } from '../../apps/viewer/policy.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { copyLine } from '../components.ts'

/** Opens the panel of `sharePanel`, without a script. */
export const shareButton: Html = html`<button
  class="button quiet"
  type="button"
  popovertarget="share"
>
  Share
</button>`

/** Link, QR code, embed code and the share dialog of the system. */
export function sharePanel(ctx: AppContext, item: Item): Html {
  const { id, link, title } = item
  const embed: Part =
    item.embeds &&
    embeddersOf(ctx.config).length > 0 &&
    html`<h3>Embed</h3>
      ${copyLine(embedCode({ link, title }), t('Embed code'))}`
  const code = html`<img
    class="qr"
    src="/a/${id}/qr.svg"
    alt="QR code of the link"
    width="160"
    height="160"
    loading="lazy"
  />`
  return linkPanel(item, html`${embed}${code}`)
}

/** A link and the share dialog of the system, with further ways to share below them. */
export const linkPanel = ({ link, title }: Pick<Item, 'link' | 'title'>, more?: Part): Html =>
  html`<div class="panel" id="share" popover role="dialog" aria-label="Share">
    <h2>Share</h2>
    ${copyLine(link, t('Link'))}
    <share-link data-url="${link}" data-title="${title}"></share-link>
    ${more}
    <p>
      <button class="button quiet" type="button" popovertarget="share" popovertargetaction="hide">
        Close
      </button>
    </p>
  </div>`
