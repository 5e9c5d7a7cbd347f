import { t } from '../words.ts'
import { copyText } from './copy-text.ts'
import { field, text } from './messages.ts'
import { type Offer, size } from './notices.ts'
import { fileName, saveFile } from './save-file.ts'

const fileBytesMax = 67_108_864
const programs =
  /\.(?:exe|msi|msix|hta|lnk|url|bat|cmd|com|scr|pif|ps1|vbs|vbe|js|jse|wsf|jar|apk|dmg|pkg|app|sh|command|desktop|reg|iso|img|dll|cpl|chm)\.*$/i

/** Offers a file of the app. It is saved only after a click on the shell's button. */
function fileOffer(given: string, blob: Blob): Offer {
  const name = fileName(given)
  if (programs.test(name) || blob.size > fileBytesMax) {
    return {
      text: t('This app offered “{name}”. Programs and very large files are blocked.', { name }),
      ms: 8_000,
    }
  }
  const press = (): void => saveFile(name, new Blob([blob], { type: 'application/octet-stream' }))
  const text = t('This app created a file: “{name}”, {size}', { name, size: size(blob.size) })
  return { text, label: t('Save'), press }
}

/** Offers a link of the app and shows its target before it opens. */
function linkOffer(given: string): Offer {
  const inside = 'https://app.invalid'
  const url = URL.canParse(given, inside) ? new URL(given, inside) : undefined
  if (!url || url.origin === inside || !/^(?:https?|mailto):$/.test(url.protocol)) {
    return { text: t('This app tried to open a page outside the app.'), ms: 5_000 }
  }
  const shown = url.href.length > 80 ? `${url.href.slice(0, 79)}…` : url.href
  return { text: t('This app links to {url}', { url: shown }), label: t('Open'), href: url.href }
}

const printHeightMax = 30_000

/** Offers to print the app, as high as its page, since only its visible part would be on paper. */
function printOffer(requested: number): Offer {
  const press = (): void => {
    const height = Math.min(Math.max(Number(requested) || 0, 100), printHeightMax)
    document.documentElement.style.setProperty('--print-height', `${height}px`)
    print()
  }
  return { text: t('This app has a page to print.'), label: t('Print'), press }
}

/** Offers to share what the app names: by the browser where it can, else as a copy. */
function shareOffer(data: unknown): Offer {
  const link = document.querySelector<HTMLInputElement>('#sharing input')?.value ?? ''
  const named = text(data, 'url', 2_000)
  // The app knows no URL of its own. A link to another site is shown, like any link.
  const url = /^https?:\/\/(?!app\.invalid)/.test(named) && !named.includes('/frame') ? named : link
  const [title, words] = [text(data, 'title', 200), text(data, 'text', 2_000)]
  const shown = [title, words, url].filter((part) => part !== '').join(' · ')
  const canShare = 'share' in navigator
  const press = (): void => {
    if (canShare) void navigator.share({ title, text: words, url }).catch(() => undefined)
    else copyText([words || title, url].join('\n'))
  }
  return {
    text: t('This app shares: {text}', { text: shown.slice(0, 160) }),
    label: t(canShare ? 'Share' : 'Copy'),
    press,
  }
}

/** Returns the offer that a message of the app asks for; undefined for any other message. */
export function offerOf(data: unknown): Offer | undefined {
  const blob = field(data, 'blob')
  switch (field(data, 'type')) {
    case 'service:link':
      return linkOffer(text(data, 'href', 4_000))
    case 'service:download':
      return blob instanceof Blob ? fileOffer(text(data, 'name', 300), blob) : undefined
    case 'service:print':
      return printOffer(Number(field(data, 'height')))
    case 'service:share':
      return shareOffer(data)
    default:
      return undefined
  }
}
