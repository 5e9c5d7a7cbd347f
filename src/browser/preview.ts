import { PageError } from './page-errors.ts'
import type { PageSession } from './page-session.ts'

/** The result of a preview: problems as sentences, and a PNG screenshot. */
export interface PreviewResult {
  problems: string[]
  screenshot: Uint8Array<ArrayBuffer> | undefined
}

export const previewSize = { width: 640, height: 640 }
const turnsMax = 6
const turnsMin = 3
const turnMs = 500
const problemsMax = 8

const blank =
  'The page is blank: every pixel has the same color. It must draw something at once, ' +
  'even before its assets have loaded.'

const leaves = (url: string): string =>
  `The page leaves for ${url} by itself, and visitors see nothing then. Use a link instead.`

/** Reports what a page draws and throws when it opens, and where it goes by itself. */
export async function previewPage(
  session: PageSession,
  signal: AbortSignal,
): Promise<PreviewResult> {
  try {
    const screenshot = await session.run(() => waitForDrawing(session), signal)
    const departures = session.departures.urls.map(leaves)
    const others = departures.length > 0 || screenshot ? departures : [blank]
    const problems = [...session.exceptions, ...others]
    return { problems: problems.slice(0, problemsMax), screenshot }
  } catch (error) {
    if (!(error instanceof PageError)) throw error
    return { problems: [error.message], screenshot: undefined }
  }
}

async function waitForDrawing(session: PageSession): Promise<PreviewResult['screenshot']> {
  for (let turns = 1; turns <= turnsMax; turns += 1) {
    await session.turn(turnMs)
    const shot = turns < turnsMin ? undefined : await session.takeScreenshot()
    if (shot) return shot
  }
  return undefined
}
