import { type BrowserLocation, withChromium } from './chromium.ts'
import { PageSession, type PixelSize, type PreviewPage, within } from './page-session.ts'

const drawMs = 400
const drawChecksMax = 12
const totalMs = 30_000
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

/**
 * Opens a page in a new browser and plays it for two seconds. Returns PNG screenshots of `size`
 * from before, during and after; none of them is blank. Throws when the browser fails.
 */
export const capturePage = (
  browser: BrowserLocation,
  shown: PreviewPage,
  size: PixelSize,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>[]> =>
  withChromium(browser, (pipe) =>
    within(totalMs, capture(new PageSession(shown, size, pipe), size), signal),
  )

async function capture(session: PageSession, size: PixelSize): Promise<Uint8Array<ArrayBuffer>[]> {
  await session.open()
  const first = await waitForDrawing(session)
  if (!first) return []
  await session.evaluateInFrames(hideFooters)
  const shots = [(await session.takeScreenshot()) ?? first]
  for (let step = 0; step < playSteps; step += 1) {
    if (!(await session.isResponsive())) break
    await play(session, step, size)
    if (step === playSteps / 2) shots.push(...[(await session.takeScreenshot()) ?? []].flat())
  }
  return [...shots, ...[(await session.takeScreenshot()) ?? []].flat()]
}

async function waitForDrawing(session: PageSession): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (let checks = 0; checks < drawChecksMax; checks += 1) {
    await Bun.sleep(drawMs)
    const shot = (await session.isResponsive()) && (await session.takeScreenshot())
    if (shot && checks > 0) return shot
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
