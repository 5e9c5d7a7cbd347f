import type { ChatHost } from './chat-host.ts'

/** The height of an app that fills its frame, such as a game, in CSS pixels. */
const fillHeight = 480
const heightMin = 120
/** The height for a board above the app. */
const dialogHeight = 440
const heightMax = 4_000
/** Content lower than this is placed outside of the flow, so the app fills its frame. */
const flowMin = 48
/** A page of 100vh and a margin grows with each step. */
const smallSteps = 64
const smallStepsMax = 3

/** Fits the frame of this page to its app, within what the host allows. */
export class ViewSize {
  #height = fillHeight
  #steps = 0
  #sent = 0
  /** The most that the host allows; undefined for a frame of a fixed height. */
  #max: number | undefined = heightMax

  constructor(private readonly host: ChatHost) {
    new ResizeObserver(() => this.send()).observe(document.body)
    // A question or a board comes and goes.
    new MutationObserver(() => this.send()).observe(document.body, { childList: true })
  }

  /** Sets the most that the host allows; undefined for a frame of a fixed height. */
  allow(max: number | undefined): void {
    this.#max = max === undefined ? undefined : Math.min(max, heightMax)
    this.send()
  }

  /** A new document starts. */
  restart(): void {
    this.#steps = 0
  }

  /** Takes the height that the content of the app needs. */
  take(needed: number): void {
    const requested = needed < flowMin ? fillHeight : needed
    const step = requested - this.#height
    if (step > 0 && step <= smallSteps && ++this.#steps > smallStepsMax) return
    this.#height = Math.min(Math.max(requested, heightMin), heightMax)
    this.send()
  }

  /** Tells the host the height of the app with the bars above it, where it changed. */
  send(): void {
    if (this.#max === undefined) return
    const bars = [...document.querySelectorAll<HTMLElement>('header, #question')]
    const above = bars.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0)
    const needed = document.querySelector('dialog') ? dialogHeight : this.#height
    const height = Math.min(Math.max(needed, this.#height) + above, this.#max)
    if (height === this.#sent) return
    this.#sent = height
    this.host.notify('ui/notifications/size-changed', { height })
  }
}
