import { type BrowserLocation, withChromium } from './chromium.ts'
import { PageSession, type PreviewPage, within } from './page-session.ts'

/** The result of a preview: problems as sentences, and a PNG screenshot. */
export interface PreviewResult {
  problems: string[]
  screenshot: Uint8Array<ArrayBuffer> | undefined
}

const size = { width: 640, height: 640 }
const screenshotsMax = 6
const betweenMs = 500
const totalMs = 30_000
const problemsMax = 8

const blank =
  'The page is blank: every pixel has the same color. It must draw something at once, ' +
  'even before its assets have loaded.'
const unresponsive =
  'The page does not respond: it has an endless loop, or does too much work at once.'

/**
 * Opens a page in a new browser and reports what it draws and throws. Throws when the browser
 * fails.
 */
export const previewPage = (
  browser: BrowserLocation,
  shown: PreviewPage,
  signal: AbortSignal,
): Promise<PreviewResult> =>
  withChromium(browser, (pipe) =>
    within(totalMs, preview(new PageSession(shown, size, pipe)), signal),
  )

async function preview(session: PageSession): Promise<PreviewResult> {
  await session.open()
  let screenshot: PreviewResult['screenshot']
  for (let count = 0; count < screenshotsMax; count += 1) {
    await Bun.sleep(betweenMs)
    if (!(await session.isResponsive())) return { problems: [unresponsive], screenshot: undefined }
    screenshot = await session.takeScreenshot()
    if (screenshot && count > 1) break
  }
  const problems = [...session.exceptions, ...(screenshot ? [] : [blank])]
  return { problems: problems.slice(0, problemsMax), screenshot }
}
