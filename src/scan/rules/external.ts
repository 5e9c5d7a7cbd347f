import type { Hit } from '../findings.ts'
import { isRemote, type Page } from '../page.ts'

const requestUses = new Set(
  (
    'fetch sendBeacon WebSocket EventSource importScripts import Worker open get post ajax src ' +
    'from FontFace'
  ).split(' '),
)
const inPage = /^(?:$|data:|blob:|about:|javascript:|#|\{\{|\$\{|<%)/i
const shownMax = 80
const isAsset = /\.(?:png|jpe?g|webp|gif|mp3|ogg|wav|json)$/i
const showsAssets = new Set(['img', 'image', 'audio'])

/** External resources, which do not load in the sandbox. One finding per URL. */
export function* external(page: Page): Generator<Hit> {
  const seen = new Set<string>()
  for (const { use, url, at } of page.addresses) {
    if (inPage.test(url.trim()) || use === 'a' || seen.has(url)) continue
    seen.add(url)
    yield { code: 'net.external', at, help: helpFor(url, use), url }
  }
  for (const { use, url, at } of page.requests) {
    if (!requestUses.has(use) || !isRemote(url) || seen.has(url)) continue
    seen.add(url)
    yield { code: 'net.external', at, help: helpFor(url, use), url }
  }
}

/** Returns the help for an external URL. Scripts, styles, fonts and services cannot be assets. */
export function helpFor(url: string, use = ''): string {
  const shown = url.length > shownMax ? `${url.slice(0, shownMax)}…` : url
  const fix =
    showsAssets.has(use) || isAsset.test(url.split(/[?#]/, 1)[0] ?? '')
      ? 'inline it, or upload it as an asset and use service.assets.'
      : 'put its content into the page, or remove it. Only images, sounds and JSON can be assets.'
  return `${shown.split('?')[0]} does not load here: ${fix}`
}
