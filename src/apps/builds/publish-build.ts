import type { JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { versionNoteCharsMax } from '../../kernel/limits.ts'
import * as apps from '../apps.ts'
import { type GeneratedAsset, storeBuildAssets } from '../assets/asset-job.ts'
import type { PreviewResult } from '../browser/preview-browser.ts'
import type { ContentInspection } from '../content-scan.ts'
import type { ServiceModel } from '../models/model-call.ts'
import { notifyListed } from '../notifications.ts'
import * as pages from '../page-content.ts'
import { reservePublish } from '../publish-quota.ts'
import { addVersion } from '../versions/versions.ts'
import type { BuildData, BuildInput } from './job-data.ts'
import { notifyBuilt } from './notifications.ts'
import { plannedTexts } from './plan.ts'
import { storeScreenshot } from './preview.ts'
import { settleBuild } from './settlement.ts'

export type BuildRun = JobRun<BuildInput, BuildData>

interface FinishedBuild {
  by: ServiceModel
  /** Nano-USD. */
  spent: bigint
  used: BuildData['used']
  plan: BuildData['plan']
  inspection: ContentInspection
  files: GeneratedAsset[]
  preview: PreviewResult | undefined
}

const outdated: Outcome = {
  end: 'failed',
  error: {
    code: 'try_again',
    error:
      'Another version was published during the build. The build was not charged. Start it again.',
  },
}
const isOutdated = (app: apps.App, { version = 0 }: BuildInput) => app.version !== version

export async function publishBuild(
  ctx: AppContext,
  { input, job: { item }, onEnd }: BuildRun,
  { by, spent, used, plan, inspection, files, preview }: FinishedBuild,
): Promise<Outcome> {
  const { prompt, store, version, note } = input
  const before = apps.requireAvailable(await apps.findApp(ctx, item ?? ''))
  if (isOutdated(before, input)) return outdated
  onEnd(await reservePublish(ctx, before.maker, inspection.identity.byteLength))
  const page = await pages.storePage(ctx, inspection)
  const texts = { ...plan, title: inspection.title ?? plan.title }
  const icon = before.icon === null ? await storeScreenshot(ctx, preview) : undefined
  const how = {
    via: 'build',
    note: note || prompt.replaceAll(/\s+/g, ' ').slice(0, versionNoteCharsMax),
  } as const
  return {
    end: 'done',
    record: async (db, job) => {
      const current = await apps.lockApp(ctx, db, before)
      if (isOutdated(current, input)) throw new ApiError('try_again', {})
      const named = await apps.updateApp(ctx, db, current, {
        ...(version === undefined && plannedTexts(current, texts)),
        ...(icon !== undefined && current.icon === null && { icon }),
      })
      const { app, reasons } = await addVersion(ctx, db, named, { page, inspection, how })
      const unused = await storeBuildAssets(ctx, db, app, files)
      const issues = store ? pages.listingIssues(inspection, named) : []
      const lists = store && issues.length === 0
      const shown = lists ? await apps.updateApp(ctx, db, app, { listed: 'on' }) : app
      if (lists) await notifyListed(ctx, db, shown)
      const charged = await settleBuild(ctx, db, job, { by, used, cost: spent - unused })
      const built = { app: shown, job, charged, reasons: [...reasons, ...issues] }
      const isUnchecked = ctx.previewBrowser.isAvailable && preview === undefined
      await notifyBuilt(ctx, db, { ...built, isUnchecked })
      return { version: shown.version }
    },
  }
}
