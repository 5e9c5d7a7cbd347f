import { type Html, html } from '../../kernel/html.ts'
import { t, type Text } from '../../kernel/words/message.ts'

interface Shared {
  link: string
  /** The path of the QR code of the link. */
  qr?: string | undefined
  /** The code of a frame on other sites. */
  code?: string | undefined
}

/** A text to copy. Its script needs no words. */
const line = (label: Text, text: string, copy: Text): Html =>
  html`<p class="line">
    <label>${label}<input readonly dir="ltr" value="${text}" /></label
    ><button type="button" data-copied="${t('Copied')}">${copy}</button>
  </p>`

/**
 * The share dialog, in the player as on pages of the site: link, embed code, QR code and the share
 * dialog of the system. A button with `popovertarget="sharing"` opens it, without a script.
 */
export function sharingDialog({ link, qr, code }: Shared): Html {
  const image =
    qr !== undefined &&
    html`<p class="scan">
      <img
        src="${qr}"
        alt="QR code of the link"
        width="112"
        height="112"
        loading="lazy"
      />${t('Scan it to open the link on a phone.')}
    </p>`
  return html`<div id="sharing" popover role="dialog" aria-label="Share">
    <h2>Share</h2>
    ${line(t('Link'), link, t('Copy link'))}
    ${code !== undefined && line(t('Embed code'), code, t('Copy code'))}${image}
    <p class="ends">
      <button type="button" id="send" hidden>${t('Share with …')}</button
      ><button type="button" popovertarget="sharing" popovertargetaction="hide">
        ${t('Close')}
      </button>
    </p>
  </div>`
}
