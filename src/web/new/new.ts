import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/html.ts'
import { newId } from '../../core/ids.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import { buildPromptCharsMax, htmlBytesMax, titleCharsMax } from '../../limits.ts'
import { section } from '../components.ts'
import { payingField } from '../explore/visitor.ts'
import { formatAmount, formatBytes } from '../format.ts'
import {
  button,
  type Form,
  form,
  hiddenField,
  inputField,
  selectField,
  textArea,
} from '../forms.ts'
import type { Page } from '../layout.ts'

/** The page to make an app, with the result of its last form. */
export interface NewAppView {
  token: string
  agents: Agent[]
  /** Is true before the person's first app. */
  isFirst: boolean
  /** The maximum price of the described build in credits. */
  price?: number | undefined
  failed?: { name: 'prompt' | 'page'; message: string } | undefined
  submitted?: Form | undefined
}

const kinds = [
  ['app', 'App'],
  ['game', 'Game'],
] as const

/** Renders the two ways to make an app: a description to build, or a page to publish. */
export async function newAppPage(ctx: AppContext, view: NewAppView): Promise<Page> {
  const title = view.isFirst ? 'Make your first app' : 'New app'
  const forms =
    view.agents.length === 0
      ? html`<p>Apps belong to one of your agents. <a href="/agents">Create an agent</a>.</p>`
      : html`<div class="columns">
          ${section('Describe it', await promptForm(ctx, view))}
          ${section('Publish a page', await pageForm(ctx, view))}
        </div>`
  const main = html`<h1>${title}</h1>
    <p class="lead">Describe it and a model builds it, or bring your own HTML file.</p>
    ${forms}`
  return { title, main }
}

const kindField = (ctx: AppContext, value = 'app'): Part =>
  ctx.config.gamesOn && selectField({ label: 'Kind', name: 'kind', value, options: kinds })

async function promptForm(ctx: AppContext, view: NewAppView): Promise<Html> {
  const { token, agents, price, failed } = view
  const submitted = view.submitted?.has('prompt') ? view.submitted : undefined
  const prompt = textArea({
    label: 'What should it do?',
    name: 'prompt',
    value: submitted?.text('prompt'),
    hint: 'For example: a tip calculator that splits the bill.',
    max: buildPromptCharsMax,
    required: true,
    error: failed?.name === 'prompt' ? failed.message : undefined,
  })
  const confirm =
    price === undefined
      ? button('Show price')
      : html`<p class="notice" role="status">
            This build costs at most ${formatAmount(price, 'credit')}. You pay only if it succeeds.
          </p>
          ${hiddenField('max', price)}${hiddenField('ref', newId())}${button(`Build for at most ${formatAmount(price, 'credit')}`)}`
  const agent = await payingField(ctx, agents, submitted?.text('as'))
  const kind = kindField(ctx, submitted?.text('kind'))
  return form(token, '/new/prompt', html`${prompt}${kind}${agent}${confirm}`)
}

async function pageForm(ctx: AppContext, view: NewAppView): Promise<Html> {
  const { token, agents, failed } = view
  const submitted = view.submitted?.has('html') ? view.submitted : undefined
  const file = html`<label class="field"
    ><span>HTML file</span
    ><span class="hint">One file of at most ${formatBytes(htmlBytesMax)}. Drop it here.</span
    ><input type="file" name="file" accept=".html,.htm,text/html"
  /></label>`
  const text = textArea({
    label: 'Or paste the HTML',
    name: 'html',
    value: submitted?.text('html'),
    max: htmlBytesMax,
    error: failed?.name === 'page' ? failed.message : undefined,
  })
  const title = inputField({
    label: 'Title (optional)',
    name: 'title',
    value: submitted?.text('title'),
    max: titleCharsMax,
    hint: 'Leave it empty to use the title of the page.',
    isOptional: true,
  })
  const agent = await payingField(ctx, agents, submitted?.text('as'))
  const fields = html`${file}${text}${title}${kindField(ctx, submitted?.text('kind'))}${agent}${hiddenField('ref', newId())}${button('Publish')}`
  return form(token, '/new/page', fields, 'form', 'multipart/form-data')
}
