const urlsMax = 5
const charsMax = 500

/**
 * Script for the viewer's page: reports links that the app opens by `window.open` or by clicks of
 * its scripts. The sandbox turns these into messages (public/frame/links.ts).
 */
export const binding = 'reportDeparture'
export const reporter = `if (self === top) addEventListener('message', ({ data }) => {
  if (data && data.type === 'service:link') ${binding}(String(data.href))
})`

/** The URLs outside the page that it tries to open before its visitor does anything. */
export class Departures {
  private readonly found = new Set<string>()
  private isWatching = true

  /** `page` is the URL of the viewer. */
  constructor(private readonly page: string) {}

  get urls(): string[] {
    return [...this.found]
  }

  add(url: string): void {
    if (!this.isWatching || this.found.size >= urlsMax || !URL.canParse(url, this.page)) return
    const { protocol, origin, href } = new URL(url, this.page)
    const isPage = /^(?:https?|data|blob):$/.test(protocol)
    if (isPage && origin !== new URL(this.page).origin) this.found.add(href.slice(0, charsMax))
  }

  /** Ends the watch. A visitor's click may lead anywhere. */
  end(): void {
    this.isWatching = false
  }
}
