import type { Locator, Page } from 'playwright-core'

/**
 * Drops files or folders on an element, in Chromium. Their entries are real ones, which scripts
 * cannot create.
 */
export async function dropFiles(page: Page, target: Locator, files: string[]): Promise<void> {
  await target.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await target.boundingBox()) ?? {
    x: 0,
    y: 0,
    width: 0,
    height: 0,
  }
  const session = await page.context().newCDPSession(page)
  const at = { x: x + width / 2, y: y + height / 2 }
  const data = { items: [], files, dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, ...at, data })
  }
}
