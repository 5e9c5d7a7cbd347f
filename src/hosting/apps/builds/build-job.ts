import type { PreviewResult } from '../../../browser/preview.ts'
import type { AppContext } from '../../../context.ts'
import { nano } from '../../../core/money.ts'
import { minute } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import type { Handler, JobRun, Outcome } from '../../../jobs/handler.ts'
import { listOpenHolds } from '../../../ledger/job-holds.ts'
import { settleHold } from '../../../ledger/ledger.ts'
import { versionNoteCharsMax } from '../../../limits.ts'
import { chargeOf } from '../../../models/charge.ts'
import { createUsage } from '../../../models/usage.ts'
import { chat, type Message } from '../../models/chat.ts'
import { ModelDeclined, NoModelResult, type ServiceModel } from '../../models/model-call.ts'
import * as apps from '../apps.ts'
import { generateAsset, type GeneratedAsset, storeBuildAssets } from '../assets/asset-job.ts'
import { listAssets } from '../assets/assets.ts'
import { notifyListed } from '../notifications.ts'
import * as pages from '../page-content.ts'
import { addVersion } from '../versions/versions.ts'
import { type Budget, budgetOf, buildAssetsMax, repairsMax } from './budget.ts'
import { noteBuild, withCall } from './build-usage.ts'
import { theBuilder } from './builder.ts'
import { endFree, freeOf } from './free-credits.ts'
import { BuildData, BuildInput } from './job-data.ts'
import { tellBuilt, undone } from './notifications.ts'
import { checkPage, type PageCheck } from './page-checks.ts'
import { isRewritten } from './page.ts'
import { type Plan, planIn, unsaid } from './plan.ts'
import { iconSeen, look } from './preview.ts'
import { changing, mending, planning, writing } from './prompts.ts'

const callMs = 4 * minute
/**
 * Characters per token of a response that is sent back to the model. Keeps it within the tokens
 * that the price includes.
 */
const charsPerTokenMost = 8

type BuildWork = JobRun<BuildInput, BuildData>
type Failed = Extract<Outcome, { end: 'failed' }>

const failed = (code: string, error: string): Failed => ({ end: 'failed', error: { code, error } })

const modelFailed =
  'The model could not be reached or gave no answer. Nothing was charged. Try again.'

const overtaken = failed(
  'try_again',
  'Another version was published meanwhile, which this would undo. Nothing was charged. Ask again.',
)
const isOvertaken = (app: apps.App, { version = 0 }: BuildInput) => app.version !== version

/** Runs a build: plan, page, checks, repairs, assets, publication. */
export const buildHandler = (ctx: AppContext): Handler<typeof BuildInput, typeof BuildData> => ({
  queue: 'builds',
  input: BuildInput,
  data: BuildData,
  async run(work) {
    try {
      return await new Build(ctx, work).run()
    } catch (error) {
      work.signal.throwIfAborted()
      if (error instanceof NoModelResult) {
        ctx.log.warn('builds.no_answer', { job: work.job.id, why: error.message })
        return error instanceof ModelDeclined
          ? failed('model_refused', 'The model would not build this. Nothing was charged.')
          : failed('no_builder', modelFailed)
      }
      if (error instanceof ApiError) {
        return failed(error.errorName, 'It could not be published here. Nothing was charged.')
      }
      throw error
    }
  },
  compensate: (db, job) => undone(ctx, db, job),
})

/** One run of a build. */
class Build {
  private spent = 0n
  private used: BuildData['used'] = createUsage({})
  /** Preview of the current page. */
  private seen: PreviewResult | undefined
  private readonly by: ServiceModel

  constructor(
    private readonly ctx: AppContext,
    private readonly work: BuildWork,
  ) {
    this.by = theBuilder(ctx, work.input.kind)
  }

  async run(): Promise<Outcome> {
    const { ctx, work } = this
    const app = apps.requireAvailable(await apps.findApp(ctx, work.job.item ?? ''))
    const written = work.data ?? (await this.write(app))
    if ('end' in written) return written
    this.spent = BigInt(written.spent)
    await work.report({ step: 'assets', progress: 0.7, data: written })
    const checked = await checkPage(ctx, written.html)
    if ('code' in checked) return failed(checked.code, checked.faults.join(' '))
    const files = await this.assets(app, checked.inspection.asks)
    if (!this.seen || files.length > 0) await this.look(app, checked.html, files)
    const [fault] = this.seen?.problems ?? []
    if (fault) return failed('build_invalid', fault)
    const data = { ...written, spent: `${this.spent}` }
    await work.report({ step: 'publishing', progress: 0.95, data })
    return this.published(app, written, checked, files)
  }

  /** Returns the page that passed the checks with its plan, or the failure. */
  private async write(app: apps.App): Promise<BuildData | Failed> {
    const { ctx, work } = this
    const { prompt, version } = work.input
    const old = version === undefined ? '' : await this.pageOf(app, version)
    const budget = budgetOf(ctx, this.by, { prompt, page: old })
    const plan = await this.plan(budget)
    await work.report({ step: 'writing', progress: 0.15 })
    const messages = this.firstMessages(old, plan)
    for (let turn = 0; ; turn += 1) {
      const said = await this.say(messages, budget.page)
      await work.report({ step: 'checking', progress: 0.5 + turn * 0.05 })
      const checked = await checkPage(ctx, said.text)
      const faults =
        'code' in checked
          ? checked.faults
          : [...this.rewritten(old, checked, turn), ...(await this.look(app, checked.html))]
      if (faults.length === 0 && 'html' in checked) {
        return { html: checked.html, spent: `${this.spent}`, used: this.used, plan }
      }
      if (turn === repairsMax) {
        const code = 'code' in checked ? checked.code : 'build_invalid'
        return failed(code, `The page did not pass: ${faults.join(' ')}`.slice(0, 1_000))
      }
      const content = said.text.slice(0, budget.page.output * charsPerTokenMost)
      const answer: Message = { role: 'assistant', content }
      messages.splice(2, 2, answer, { role: 'user', content: mending(faults) })
    }
  }

  /** Asks once for a smaller change when the page was rewritten; the second attempt is accepted. */
  private rewritten(old: string, checked: PageCheck, turn: number): string[] {
    if (turn > 0 || old === '' || 'code' in checked || !isRewritten(old, checked.html)) return []
    return ['You rewrote more than was asked for. Keep every line that need not change.']
  }

  /** Previews the page and returns its problems. */
  private async look(app: apps.App, html: string, files: GeneratedAsset[] = []): Promise<string[]> {
    this.seen = await look(this.ctx, app, { html, files }, this.work.signal)
    return this.seen?.problems ?? []
  }

  private firstMessages(old: string, { plan }: Plan): Message[] {
    const { prompt, kind } = this.work.input
    if (old === '') {
      return [
        { role: 'system', content: writing(kind) },
        { role: 'user', content: `${prompt}\n\nThe plan:\n${plan}` },
      ]
    }
    return [
      { role: 'system', content: changing(kind) },
      { role: 'user', content: `${prompt}\n\nThe page:\n\`\`\`html\n${old}\n\`\`\`` },
    ]
  }

  private async plan(budget: Budget): Promise<Plan> {
    const { prompt, kind, version } = this.work.input
    await this.work.report({ step: 'planning', progress: 0.05 })
    if (version !== undefined) return planIn('', prompt)
    const messages: Message[] = [
      { role: 'system', content: planning(kind) },
      { role: 'user', content: prompt },
    ]
    const said = await this.say(messages, budget.plan)
    return planIn(said.text, prompt)
  }

  private async say(messages: Message[], most: Budget['page']) {
    const signal = AbortSignal.any([this.work.signal, AbortSignal.timeout(callMs)])
    const said = await chat(this.ctx, this.by, { messages, most, signal }).catch((error) => {
      this.work.signal.throwIfAborted()
      throw signal.aborted ? new NoModelResult('it took too long') : error
    })
    this.spent += chargeOf(this.by.price, said.usage)
    this.used = withCall(this.used, said.usage)
    return said
  }

  private async pageOf({ id }: apps.App, version: number): Promise<string> {
    const row = await apps.getVersion(this.ctx, id, version)
    return new TextDecoder().decode((await pages.readPage(this.ctx, row)).identity)
  }

  /** Generates the assets that the page requests and does not have, at most eight. */
  private async assets({ id, version }: apps.App, asks: Parameters<typeof generateAsset>[2][]) {
    const { ctx, work } = this
    const files: GeneratedAsset[] = []
    const has = new Set((await listAssets(ctx, id, version)).map(({ name }) => name))
    const wanted = asks.filter(({ name }) => !has.has(name))
    for (const one of wanted.slice(0, ctx.config.assetsOn ? buildAssetsMax : 0)) {
      const file = await generateAsset(ctx, id, one, work.signal)
      if ('code' in file) continue
      files.push(file)
      this.spent += file.charge
    }
    return files
  }

  /** Publishes the build. Version, assets, texts and charge are one transaction. */
  private async published(
    { id }: apps.App,
    { plan, used }: BuildData,
    { inspection }: Extract<PageCheck, { html: string }>,
    files: GeneratedAsset[],
  ): Promise<Outcome> {
    const { ctx, work } = this
    const { prompt, store, version, note: said } = work.input
    const page = await pages.storePage(ctx, inspection)
    const before = apps.requireAvailable(await apps.findApp(ctx, id))
    if (isOvertaken(before, work.input)) return overtaken
    const says = { ...plan, title: inspection.title ?? plan.title }
    const icon = before.icon === null ? await iconSeen(ctx, this.seen) : undefined
    const note = said || prompt.replaceAll(/\s+/g, ' ').slice(0, versionNoteCharsMax)
    return {
      end: 'done',
      record: async (db, job) => {
        const now = await apps.lockApp(ctx, db, before)
        if (isOvertaken(now, work.input)) throw new ApiError('try_again', {})
        const told = {
          ...(version === undefined && unsaid(now, says)),
          ...(icon !== undefined && now.icon === null && { icon }),
        }
        const named = await apps.updateApp(ctx, db, now, told)
        const made = await addVersion(ctx, db, named, {
          page,
          inspection,
          how: { via: 'build', note },
        })
        const unused = await storeBuildAssets(ctx, db, made.app, files)
        const unlisted = store ? pages.listingIssues(inspection, named) : []
        const lists = store && unlisted.length === 0
        const shown = lists ? await apps.updateApp(ctx, db, made.app, { listed: 'on' }) : made.app
        if (lists) await notifyListed(ctx, db, shown)
        const [hold] = await listOpenHolds(db, job.id)
        const reasons = [...made.reasons, ...unlisted]
        if (!hold) throw new Error('a build has a hold until it lands')
        const paid = await settleHold(ctx, db, hold, nano(this.spent - unused))
        await endFree(db, job, await freeOf(db, paid.account, paid.charged))
        await noteBuild(ctx, db, { by: this.by, job, hold: paid, used })
        await tellBuilt(ctx, db, { app: shown, job, charged: paid.charged, reasons })
        return { version: shown.version }
      },
    }
  }
}
