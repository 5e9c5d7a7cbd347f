import { type Json, recordOf } from '../core/schema.ts'

/** The frame of an app in the wrapper (docs/spec/sandbox.md). Both share a session. */
export class AppFrame {
  session = ''
  /** The JavaScript context of the app. */
  context = 0
  private wrapper = ''
  private app = ''
  private readonly starting = Promise.withResolvers<void>()
  private readonly loading = Promise.withResolvers<void>()

  constructor(private readonly departures: Departures) {}

  /** Resolves when the frame exists, before scripts of the app run. */
  get started(): Promise<void> {
    return this.starting.promise
  }

  /** Resolves when the app has loaded. */
  get loaded(): Promise<void> {
    return this.loading.promise
  }

  /** Follows the app in a new wrapper. */
  enter(session: string, wrapper: string): void {
    Object.assign(this, { session, wrapper, app: '', context: 0 })
  }

  onEvent(method: string, params: Json): void {
    const isApp = params.frameId === this.app
    if (method === 'Page.frameAttached' && params.parentFrameId === this.wrapper) {
      this.app = String(params.frameId)
      this.starting.resolve()
    } else if (method === 'Runtime.executionContextCreated') {
      const { id, auxData } = recordOf(params.context)
      const { frameId, isDefault } = recordOf(auxData)
      if (isDefault === true && frameId === this.app) this.context = Number(id)
    } else if (isApp && method === 'Page.frameStoppedLoading') {
      this.loading.resolve()
    } else if (isApp && method === 'Page.frameRequestedNavigation') {
      this.departures.add(String(params.url))
    }
  }
}

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
