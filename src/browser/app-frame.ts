import { type Json, recordOf } from '../core/schema.ts'
import type { Departures } from './departures.ts'

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
