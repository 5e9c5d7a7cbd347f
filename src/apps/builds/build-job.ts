import { chargeOf } from '../../gateway/models/charge.ts'
import { createUsage } from '../../gateway/models/usage.ts'
import type { Handler, JobRun, Outcome } from '../../jobs/handlers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { versionNoteCharsMax } from '../../kernel/limits.ts'
import { endWithStop } from '../../kernel/text.ts'
import { minute } from '../../kernel/time.ts'
import { describeError } from '../../people/error-response.ts'
import * as apps from '../apps.ts'
import type { App } from '../apps.ts'
import { listAssets, readFiles } from '../assets/assets.ts'
import { generateAsset, type GeneratedAsset, storeBuildAssets } from '../assets/generate-assets.ts'
import type { AssetRequest } from '../assets/schemas.ts'
import type { PreviewResult } from '../browser/preview-browser.ts'
import type { ContentInspection } from '../content-scan.ts'
import { toIcon } from '../icon/icon-image.ts'
import {
  chat,
  type Message,
  ModelDeclined,
  NoModelResult,
  type ServiceModel,
} from '../model-call.ts'
import { notifyListed } from '../notifications.ts'
import * as pages from '../page-content.ts'
import { readPage } from '../page-content.ts'
import { reservePublish } from '../publish-quota.ts'
import { addVersion } from '../versions/versions.ts'
import {
  addUsage,
  type Budget,
  budgetOf,
  buildAssetsMax,
  getBuilderModel,
  repairsMax,
  settleBuild,
} from './budget.ts'
import { type BuildData, BuildDataSchema, type BuildInput, BuildInputSchema } from './job-data.ts'
import { discardBuild, notifyBuilt } from './notifications.ts'
import { checkPage, isRewritten, type PageCheck } from './page-checks.ts'
import {
  changePrompt,
  pagePrompt,
  parsePlan,
  type Plan,
  plannedTexts,
  planPrompt,
  repairPrompt,
} from './plan.ts'

const callMs = 4 * minute
/** Keeps a response that is sent back to the model within the priced tokens. */
const charsPerTokenMax = 8

type Failed = Extract<Outcome, { end: 'failed' }>

const failed = (code: string, error: string): Failed => ({ end: 'failed', error: { code, error } })

const reasonCharsMax = 400

/** The message of a declined build, with the reason in the words of the model. */
function declinedMessage({ reason }: ModelDeclined): string {
  const line = reason
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, reasonCharsMax)
  const why =
    line === '' ? 'The model declined the request.' : `The model declined: ${endWithStop(line)}`
  return `${why} Nothing was charged. Describe it in other words, and try again.`
}

const errorsCharsMax = 1_000

/** The message of a build whose page failed its checks. */
const rejected = (errors: string[]): string =>
  'The model wrote a page that does not pass the checks. Nothing was charged. Try again, or ' +
  `describe it in other words. ${errors.join(' ').slice(0, errorsCharsMax)}`

/** The message of a build that was written and could not be published. */
const unpublished = (error: ApiError): string =>
  `The build could not be published. Nothing was charged. ${describeError(error)?.message ?? 'Try again.'}`

/** Runs a build: plan, page, checks, repairs, assets, publication. */
export const buildHandler = (
  ctx: AppContext,
): Handler<typeof BuildInputSchema, typeof BuildDataSchema> => ({
  input: BuildInputSchema,
  data: BuildDataSchema,
  async run(run) {
    try {
      return await new Build(ctx, run).run()
    } catch (error) {
      run.signal.throwIfAborted()
      if (error instanceof NoModelResult) {
        ctx.log.warn('builds.no_answer', { job: run.job.id, why: error.message })
        return error instanceof ModelDeclined
          ? failed('model_refused', declinedMessage(error))
          : failed(
              'no_builder',
              'The provider of the model was unreachable or returned no result. Nothing was charged. Try again.',
            )
      }
      if (error instanceof ApiError) {
        return failed(error.errorName, unpublished(error))
      }
      throw error
    }
  },
  compensate: (db, job) => discardBuild(ctx, db, job),
})

class Build {
  private spent = 0n
  private used: BuildData['used'] = createUsage({})
  private preview: PreviewResult | undefined
  private readonly by: ServiceModel

  constructor(
    private readonly ctx: AppContext,
    private readonly context: BuildRun,
  ) {
    this.by = getBuilderModel(ctx, context.input.kind)
  }

  async run(): Promise<Outcome> {
    const { ctx, context } = this
    const app = apps.requireAvailable(await apps.findApp(ctx, context.job.item ?? ''))
    const written = context.data ?? (await this.writePage(app))
    if ('end' in written) return written
    this.spent = BigInt(written.spent)
    await context.report({ step: 'assets', progress: 0.7, data: written })
    const checked = await checkPage(ctx, written.html)
    if ('code' in checked) return failed(checked.code, rejected(checked.errors))
    const files = await this.generateAssets(app, checked.inspection.assetRequests)
    if (!this.preview || files.length > 0) await this.previewErrors(app, checked.html, files)
    const [problem] = this.preview?.problems ?? []
    if (problem) return failed('build_invalid', rejected([problem]))
    const data = { ...written, spent: `${this.spent}` }
    await context.report({ step: 'publishing', progress: 0.95, data })
    const { inspection } = checked
    const { by, spent, preview } = this
    return publishBuild(ctx, context, { ...written, by, spent, inspection, files, preview })
  }

  /** Returns the page that passed the checks with its plan, or the failure. */
  private async writePage(app: apps.App): Promise<BuildData | Failed> {
    const { ctx, context } = this
    const { prompt, version } = context.input
    const old = version === undefined ? '' : await this.readVersion(app, version)
    const budget = budgetOf(ctx, this.by, { prompt, page: old })
    const plan = await this.planPage(budget)
    await context.report({ step: 'writing', progress: 0.15 })
    const messages = this.firstMessages(old, plan)
    for (let attempt = 0; ; attempt += 1) {
      const { text } = await this.callModel(messages, budget.page)
      await context.report({ step: 'checking', progress: 0.5 + attempt * 0.05 })
      const checked = await checkPage(ctx, text)
      const errors =
        'code' in checked
          ? checked.errors
          : [
              ...this.rewriteErrors(old, checked, attempt),
              ...(await this.previewErrors(app, checked.html)),
            ]
      if (errors.length === 0 && 'html' in checked) {
        return { html: checked.html, spent: `${this.spent}`, used: this.used, plan }
      }
      if (attempt === repairsMax) {
        const code = 'code' in checked ? checked.code : 'build_invalid'
        return failed(code, rejected(errors))
      }
      const content = text.slice(0, budget.page.output * charsPerTokenMax)
      const reply: Message = { role: 'assistant', content }
      messages.splice(2, 2, reply, { role: 'user', content: repairPrompt(errors) })
    }
  }

  /** Asks once for a smaller change when the page was rewritten; the second attempt is accepted. */
  private rewriteErrors(old: string, checked: PageCheck, attempt: number): string[] {
    if (attempt > 0 || old === '' || 'code' in checked || !isRewritten(old, checked.html)) return []
    return ['You rewrote more than was asked for. Keep every line that need not change.']
  }

  private async previewErrors(
    app: apps.App,
    html: string,
    files: GeneratedAsset[] = [],
  ): Promise<string[]> {
    this.preview = await previewPage(this.ctx, app, { html, files }, this.context.signal)
    return this.preview?.problems ?? []
  }

  private firstMessages(old: string, { plan }: Plan): Message[] {
    const { prompt, kind } = this.context.input
    if (old === '') {
      return [
        { role: 'system', content: pagePrompt(kind) },
        { role: 'user', content: `${prompt}\n\nThe plan:\n${plan}` },
      ]
    }
    return [
      { role: 'system', content: changePrompt(kind) },
      { role: 'user', content: `${prompt}\n\nThe page:\n\`\`\`html\n${old}\n\`\`\`` },
    ]
  }

  private async planPage(budget: Budget): Promise<Plan> {
    const { prompt, kind, version } = this.context.input
    await this.context.report({ step: 'planning', progress: 0.05 })
    if (version !== undefined) return parsePlan('', prompt)
    const messages: Message[] = [
      { role: 'system', content: planPrompt(kind) },
      { role: 'user', content: prompt },
    ]
    const { text } = await this.callModel(messages, budget.plan)
    return parsePlan(text, prompt)
  }

  private async callModel(messages: Message[], maxTokens: Budget['page']) {
    const signal = AbortSignal.any([this.context.signal, AbortSignal.timeout(callMs)])
    const result = await chat(this.ctx, this.by, { messages, maxTokens, signal }).catch((error) => {
      this.context.signal.throwIfAborted()
      throw signal.aborted ? new NoModelResult('the call timed out') : error
    })
    this.spent += chargeOf(this.by.price, result.usage)
    this.used = addUsage(this.used, result.usage)
    return result
  }

  private async readVersion({ id }: apps.App, version: number): Promise<string> {
    const row = await apps.getVersion(this.ctx, id, version)
    return new TextDecoder().decode((await readPage(this.ctx, row)).identity)
  }

  /** Generates the assets that the page requests and does not have, at most eight. */
  private async generateAssets(app: apps.App, requests: AssetRequest[]) {
    const { ctx } = this
    const files: GeneratedAsset[] = []
    const existing = new Set((await listAssets(ctx, app.id, app.version)).map(({ name }) => name))
    const missing = requests.filter(({ name }) => !existing.has(name))
    for (const request of missing.slice(0, ctx.config.assetsOn ? buildAssetsMax : 0)) {
      const file = await generateAsset(ctx, app, request, this.context.signal)
      if ('code' in file) continue
      this.context.onEnd(file.end)
      files.push(file)
      this.spent += file.charge
    }
    return files
  }
}

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

/** Previews a page with its stored and new assets. Returns undefined without a browser. */
async function previewPage(
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
async function storeScreenshot(ctx: AppContext, preview: PreviewResult | undefined) {
  if (!preview?.screenshot) return undefined
  try {
    const { sha256 } = await ctx.storage.put(await toIcon(ctx, preview.screenshot))
    return sha256
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
