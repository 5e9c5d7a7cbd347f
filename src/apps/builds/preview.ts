import { ApiError } from '../../kernel/errors.ts'
import type { AppContext } from '../../server/context.ts'
import type { App } from '../apps.ts'
import type { GeneratedAsset } from '../assets/asset-job.ts'
import { listAssets } from '../assets/assets.ts'
import { readFiles } from '../assets/contents.ts'
import type { PreviewResult } from '../browser/preview-browser.ts'
import { toIcon } from '../icon/icon-image.ts'

/** Previews a page with its stored and new assets. Returns undefined without a browser. */
export async function previewPage(
  ctx: AppContext,
  { id, version }: App,
  { html, files }: { html: string; files: GeneratedAsset[] },
  signal: AbortSignal,
): Promise<PreviewResult | undefined> {
  if (!ctx.previewBrowser.isAvailable) return undefined
  const own = [...(await listAssets(ctx, id, version)), ...files.map(({ row }) => row)]
  const page = { html: new TextEncoder().encode(html), files: await readFiles(ctx, own) }
  return ctx.previewBrowser.preview(page, signal)
}

/** Stores the screenshot of a preview as icon. Returns its hash. */
export async function storeScreenshot(ctx: AppContext, preview: PreviewResult | undefined) {
  if (!preview?.screenshot) return undefined
  try {
    const { sha256 } = await ctx.storage.put(await toIcon(ctx, preview.screenshot))
    return sha256
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
