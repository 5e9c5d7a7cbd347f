import type { Looked } from '../../../browser/preview.ts'
import type { AppContext } from '../../../context.ts'
import { nano } from '../../../core/money.ts'
import { minute } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import type { Handler, Outcome, Work } from '../../../jobs/handler.ts'
import { openHoldsOf } from '../../../ledger/job-holds.ts'
import { settle } from '../../../ledger/ledger.ts'
import { versionNoteCharsMax } from '../../../limits.ts'
import { createUsage } from '../../../models/usage.ts'
import * as apps from '../apps.ts'
import { tellListed } from '../listing-notes.ts'
import * as pages from '../page-content.ts'
import { rowsOf } from '../assets/assets.ts'
import { type FreshAsset, keepMade, makeFor } from '../assets/asset-job.ts'
import { chat, type Message } from '../../models/chat.ts'
import { type Chosen, costOf, Declined, NoAnswer } from '../../models/model-call.ts'
import { add } from '../versions/versions.ts'
import { theBuilder } from './builder.ts'
import { check, type Checked } from './page-checks.ts'
import { endFree, freeOf } from './free-credits.ts'
import { noteBuild, withCall } from './build-usage.ts'
import { BuildData, BuildInput } from './job-data.ts'
import { changing, mending, planning, writing } from './prompts.ts'
import { iconSeen, look } from './preview.ts'
import { isRewritten } from './page.ts'
import { type Plan, planIn, unsaid } from './plan.ts'
import { type Budget, budgetOf, buildAssetsMax, repairsMax } from './budget.ts'
import { tellBuilt, undone } from './notifications.ts'

const callMs = 4 * minute
/** What an answer repeats of itself to its model is within the tokens that the price counts. */
const charsPerTokenMost = 8

type BuildWork = Work<BuildInput, BuildData>
type Failed = Extract<Outcome, { end: 'failed' }>

const failed = (code: string, error: string): Failed => ({ end: 'failed', error: { code, error } })

const modelFailed =
  'The model could not be reached or gave no answer. Nothing was charged. Try again.'

const overtaken = failed(
  'try_again',
  'Another version was published meanwhile, which this would undo. Nothing was charged. Ask again.',
)
const isOvertaken = (app: apps.App, { version = 0 }: BuildInput) => app.version !== version

/** How an app is built: planned, written, checked, mended, given its assets, and published. */
export const buildHandler = (ctx: AppContext): Handler<typeof BuildInput, typeof BuildData> => ({
  lane: 'builds',
  input: BuildInput,
  data: BuildData,
  async run(work) {
    try {
      return await new Build(ctx, work).run()
    } catch (error) {
      work.signal.throwIfAborted()
      if (error instanceof NoAnswer) {
        ctx.log.warn('builds.no_answer', { job: work.job.id, why: error.message })
        return error instanceof Declined
          ? failed('model_refused', 'The model would not build this. Nothing was charged.')
          : failed('no_builder', modelFailed)
      }
      if (error instanceof ApiError) {
        return failed(error.errorName, 'It could not be published here. Nothing was charged.')
      }
      throw error
    }
  },
  undone: (db, job) => undone(ctx, db, job),
})

/** One run of one build. */
class Build {
  private spent = 0n
  private used: BuildData['used'] = createUsage({})
  /** What a browser saw of the page as it is. */
  private seen: Looked | undefined
  private readonly by: Chosen

  constructor(
    private readonly ctx: AppContext,
    private readonly work: BuildWork,
  ) {
    this.by = theBuilder(ctx, work.input.kind)
  }

  async run(): Promise<Outcome> {
    const { ctx, work } = this
    const app = apps.there(await apps.find(ctx, work.job.item ?? ''))
    const written = work.data ?? (await this.write(app))
    if ('end' in written) return written
    this.spent = BigInt(written.spent)
    await work.note({ step: 'assets', progress: 0.7, data: written })
    const checked = await check(ctx, written.html)
    if ('code' in checked) return failed(checked.code, checked.faults.join(' '))
    const files = await this.assets(app, checked.inspection.asks)
    if (!this.seen || files.length > 0) await this.look(app, checked.html, files)
    const [fault] = this.seen?.faults ?? []
    if (fault) return failed('build_invalid', fault)
    const data = { ...written, spent: `${this.spent}` }
    await work.note({ step: 'publishing', progress: 0.95, data })
    return this.published(app, written, checked, files)
  }

  /** The page, once it has passed, with its plan; or why there is none. */
  private async write(app: apps.App): Promise<BuildData | Failed> {
    const { ctx, work } = this
    const { prompt, version } = work.input
    const old = version === undefined ? '' : await this.pageOf(app, version)
    const budget = budgetOf(ctx, this.by, { prompt, page: old })
    const plan = await this.plan(budget)
    await work.note({ step: 'writing', progress: 0.15 })
    const messages = this.firstMessages(old, plan)
    for (let turn = 0; ; turn += 1) {
      const said = await this.say(messages, budget.page)
      await work.note({ step: 'checking', progress: 0.5 + turn * 0.05 })
      const checked = await check(ctx, said.text)
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

  /** A change that rewrote the page is mended once; then it is taken as it is. */
  private rewritten(old: string, checked: Checked, turn: number): string[] {
    if (turn > 0 || old === '' || 'code' in checked || !isRewritten(old, checked.html)) return []
    return ['You rewrote more than was asked for. Keep every line that need not change.']
  }

  /** What is wrong with the page where it is opened. */
  private async look(app: apps.App, html: string, files: FreshAsset[] = []): Promise<string[]> {
    this.seen = await look(this.ctx, app, { html, files }, this.work.signal)
    return this.seen?.faults ?? []
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
    await this.work.note({ step: 'planning', progress: 0.05 })
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
      throw signal.aborted ? new NoAnswer('it took too long') : error
    })
    this.spent += costOf(this.by, said.usage)
    this.used = withCall(this.used, said.usage)
    return said
  }

  private async pageOf({ id }: apps.App, version: number): Promise<string> {
    const row = await apps.theVersion(this.ctx, id, version)
    return new TextDecoder().decode((await pages.read(this.ctx, row)).identity)
  }

  /** The assets that the page asks for and does not have, at most eight; the others wait. */
  private async assets({ id, version }: apps.App, asks: Parameters<typeof makeFor>[2][]) {
    const { ctx, work } = this
    const files: FreshAsset[] = []
    const has = new Set((await rowsOf(ctx, id, version)).map(({ name }) => name))
    const wanted = asks.filter(({ name }) => !has.has(name))
    for (const one of wanted.slice(0, ctx.config.assetsOn ? buildAssetsMax : 0)) {
      const file = await makeFor(ctx, id, one, work.signal)
      if ('code' in file) continue
      files.push(file)
      this.spent += file.charge
    }
    return files
  }

  /** The ending: version, files, name and charge are written together, or not at all. */
  private async published(
    { id }: apps.App,
    { plan, used }: BuildData,
    { inspection }: Extract<Checked, { html: string }>,
    files: FreshAsset[],
  ): Promise<Outcome> {
    const { ctx, work } = this
    const { prompt, store, version, note: said } = work.input
    const page = await pages.keep(ctx, inspection)
    const before = apps.there(await apps.find(ctx, id))
    if (isOvertaken(before, work.input)) return overtaken
    const says = { ...plan, title: inspection.title ?? plan.title }
    const icon = before.icon === null ? await iconSeen(ctx, this.seen) : undefined
    const note = said || prompt.replaceAll(/\s+/g, ' ').slice(0, versionNoteCharsMax)
    return {
      end: 'done',
      record: async (db, job) => {
        const now = await apps.locked(ctx, db, before)
        if (isOvertaken(now, work.input)) throw new ApiError('try_again', {})
        const told = {
          ...(version === undefined && unsaid(now, says)),
          ...(icon !== undefined && now.icon === null && { icon }),
        }
        const named = await apps.update(ctx, db, now, told)
        const made = await add(ctx, db, named, { page, inspection, how: { via: 'build', note } })
        const unused = await keepMade(ctx, db, made.app, files)
        const unlisted = store ? pages.unlistable(inspection, named) : []
        const lists = store && unlisted.length === 0
        const shown = lists ? await apps.update(ctx, db, made.app, { listed: 'on' }) : made.app
        if (lists) await tellListed(ctx, db, shown)
        const [hold] = await openHoldsOf(db, job.id)
        const reasons = [...made.reasons, ...unlisted]
        if (!hold) throw new Error('a build has a hold until it lands')
        const paid = await settle(ctx, db, hold, nano(this.spent - unused))
        await endFree(db, job, await freeOf(db, paid.account, paid.charged))
        await noteBuild(ctx, db, { by: this.by, job, hold: paid, used })
        await tellBuilt(ctx, db, { app: shown, job, charged: paid.charged, reasons })
        return { version: shown.version }
      },
    }
  }
}
