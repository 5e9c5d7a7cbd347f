import { type Offer, size } from './notices.ts'

const fileBytesMax = 67_108_864
const programs =
  /\.(?:exe|msi|msix|hta|lnk|url|bat|cmd|com|scr|pif|ps1|vbs|vbe|js|jse|wsf|jar|apk|dmg|pkg|app|sh|command|desktop|reg|iso|img|dll|cpl|chm)\.*$/i

/** Returns a safe file name: no path, no control or bidirectional characters. */
function fileName(given: string): string {
  const name = given.replace(/[\p{C}\u200e\u200f\u202a-\u202e\u2066-\u2069\\/:*?"<>|]/gu, '').trim()
  return name.replace(/^\.+/, '').slice(-100) || 'file'
}

/** Offers a file of the app. It is saved only after a click on the shell's button. */
export function fileOffer(given: string, blob: Blob): Offer {
  const name = fileName(given)
  if (programs.test(name) || blob.size > fileBytesMax) {
    return {
      text: `This app offered “${name}”. Programs and very large files are blocked.`,
      ms: 8_000,
    }
  }
  const press = (): void => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }))
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  }
  return { text: `This app created a file: “${name}”, ${size(blob.size)}`, label: 'Save', press }
}

/** Offers a link of the app and shows its target before it opens. */
export function linkOffer(given: string): Offer {
  const inside = 'https://app.invalid'
  const url = URL.canParse(given, inside) ? new URL(given, inside) : undefined
  if (!url || url.origin === inside || !/^(?:https?|mailto):$/.test(url.protocol)) {
    return { text: 'This app tried to open a page outside the app.', ms: 5_000 }
  }
  const shown = url.href.length > 80 ? `${url.href.slice(0, 79)}…` : url.href
  return { text: `This app links to ${shown}`, label: 'Open', href: url.href }
}
