import { PageError } from './page-errors.ts'
import type { PageSession, PixelSize } from './page-session.ts'

const drawMs = 400
const drawTurnsMax = 12
/** Time of a page before its first input. It may not leave meanwhile. */
const watchTurns = 8
/** Time of play, and the pause after each input. */
const stepMs = 200
const playSteps = 10

/** Keys that start and steer most games, with their Windows key codes. */
const keys: readonly (readonly [key: string, code: number])[] = [
  ['Enter', 13],
  ['ArrowRight', 39],
  [' ', 32],
  ['ArrowUp', 38],
  ['ArrowLeft', 37],
]

/** Pages often end with credits or links, which say nothing on a cover. */
const hideFooters =
  "for (const e of document.querySelectorAll('footer, [role=contentinfo]')) e.style.display = 'none'"

type Screenshot = Uint8Array<ArrayBuffer>

/** Screenshots of a page as PNG, and the URLs that it tried to open by itself. */
export interface Capture {
  screenshots: Screenshot[]
  departures: string[]
}

/**
 * Plays a page for two seconds. Takes screenshots before, during and after; none of them is blank.
 */
export async function capturePage(
  session: PageSession,
  size: PixelSize,
  signal: AbortSignal,
): Promise<Capture> {
  const screenshots: Screenshot[] = []
  const keep = (shot: Screenshot | undefined): void => void (shot && screenshots.push(shot))
  try {
    await session.run(() => playPage(session, size, keep), signal)
  } catch (error) {
    // The page stopped itself. What it showed before is its cover.
    if (!(error instanceof PageError)) throw error
  }
  return { screenshots, departures: session.departures.urls }
}

async function playPage(
  session: PageSession,
  size: PixelSize,
  keep: (shot: Screenshot | undefined) => void,
): Promise<void> {
  const first = await waitForDrawing(session)
  session.departures.end()
  if (!first || session.departures.urls.length > 0) return
  await session.runInApp(hideFooters)
  keep((await session.takeScreenshot()) ?? first)
  for (let step = 0; step < playSteps; step += 1) {
    await play(session, step, size)
    if (step === playSteps / 2) keep(await session.takeScreenshot())
  }
  keep(await session.takeScreenshot())
}

async function waitForDrawing(session: PageSession): Promise<Screenshot | undefined> {
  for (let turns = 1; turns <= drawTurnsMax; turns += 1) {
    await session.turn(drawMs)
    const shot = turns < watchTurns ? undefined : await session.takeScreenshot()
    if (shot) return shot
  }
  return undefined
}

/** Clicks the middle first, which gives the app the focus, and then presses one key. */
async function play(session: PageSession, step: number, size: PixelSize): Promise<void> {
  if (step === 0) await session.click(size.width / 2, size.height / 2)
  const [key, code] = keys[step % keys.length] ?? keys[0] ?? ['Enter', 13]
  await session.key('keyDown', key, code)
  await Bun.sleep(stepMs)
  await session.key('keyUp', key, code)
}
