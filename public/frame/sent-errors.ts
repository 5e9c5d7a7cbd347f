import { field, text } from './messages.ts'
import { isServed } from './served.ts'

/** Errors of one page that are sent, each once. */
const errorsMax = 20
const pauseMs = 1_000
/** A page is early for so long: some browsers take a dropped file for no activation. */
const earlyMs = 20_000

const number = (data: unknown, name: string): number =>
  Math.min(Number(field(data, name)) >>> 0, 1e7)

/** Returns whether an app has no data of its player: no input, and nothing that was kept. */
const isUntouched = (): boolean =>
  // A press or a key in the frame of the app counts here, too.
  !isServed() && navigator.userActivation?.hasBeenActive === false

/**
 * Returns a function that takes the errors of an app, and sends them to the server: the first one
 * at once, and those that follow within a second together.
 */
export function sentErrors(app: string, version: number): (data: unknown) => void {
  const seen = new Set<string>()
  const begun = performance.now()
  let waiting: object[] = []
  let isPaused = false
  const send = (): void => {
    isPaused = waiting.length > 0
    if (!isPaused) return
    const body = JSON.stringify({ version, errors: waiting })
    waiting = []
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body, keepalive: true }
    void fetch(`/api/apps/${app}/errors`, request).catch(() => undefined)
    setTimeout(send, pauseMs)
  }
  return (data) => {
    const [line, column] = [number(data, 'line'), number(data, 'column')]
    const texts = { kind: text(data, 'kind', 9), text: text(data, 'text', 300) }
    const error = { ...texts, file: text(data, 'file', 240), line, column }
    const key = JSON.stringify(error)
    // The preview browser sends nothing.
    if (version === 0 || seen.has(key) || seen.size >= errorsMax) return
    seen.add(key)
    const early = isUntouched() && performance.now() - begun < earlyMs
    waiting.push({ ...error, early })
    if (!isPaused) send()
  }
}
