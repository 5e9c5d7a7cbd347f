import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { button, hiddenField, postForm } from '../../site/forms.ts'
import { readChecklist, type SetupStep, type SetupStepName } from '../operator/checklist.ts'

interface StepText {
  title: string
  text: Part
  link: Html
}

const texts: Record<SetupStepName, StepText> = {
  provider: {
    title: 'Add a provider key',
    text: html`Only demo models answer. Set a key such as <code>OPENAI_API_KEY</code>, or run
      Ollama.`,
    link: html`<a href="/console/settings/OPENAI_API_KEY">Provider settings</a>`,
  },
  url: {
    title: 'Set the public URL',
    text: html`Links and sign-in need the address of this server: <code>APP_URL</code>.`,
    link: html`<a href="/console/settings/APP_URL">APP_URL</a>`,
  },
  backup: {
    title: 'Create a backup',
    text: 'Download it as well: it is on the same disk.',
    link: html`<a href="/console/backups">Backups</a>`,
  },
  app: {
    title: 'Publish the first app',
    text: 'Describe it, or drop an HTML file.',
    link: html`<a href="/new">New app</a>`,
  },
  payments: {
    title: 'Accept payments',
    text: 'People top up by coin, agents pay in USDC. Grants work without.',
    link: html`<a href="/console/payments">Payments</a>`,
  },
  developer: {
    title: 'Accept the role developer',
    text: 'Clients that send system prompts as developer get an error until it is read as system.',
    link: html`<a href="/console/settings/GATEWAY_DEVELOPER_ROLE">Setting</a>`,
  },
}

function stepItem({ name, isDone, isOptional }: SetupStep): Html {
  const { title, text, link } = texts[name]
  const state = isDone ? 'Done' : isOptional ? 'Optional' : 'To do'
  return html`<li class="${isDone && 'done'}">
    <span class="tick" aria-hidden="true">${isDone && '✓'}</span>
    <span>
      <strong>${title}</strong> <span class="visually-hidden">(${state})</span>
      ${!isDone && html`<span class="small">${isOptional && 'Optional. '}${text}</span>`}
    </span>
    ${!isDone && link}
  </li>`
}

/** The steps of setting up a server, until all are done or the operator hides them. */
export async function checklist(ctx: AppContext, token: string): Promise<Part> {
  if (!ctx.config.setupChecklist) return false
  const steps = await readChecklist(ctx)
  if (steps.every(({ isDone }) => isDone)) return false
  const done = steps.filter(({ isDone }) => isDone).length
  const hide = html`${hiddenField('value', 'off')}${hiddenField('act', 'set')}${button('Hide checklist', 'quiet slim')}`
  return html`<section class="checklist" aria-labelledby="checklist">
    <h2 id="checklist">Set up this server <span class="small">${done} of ${steps.length}</span></h2>
    <ul>
      ${steps.map(stepItem)}
    </ul>
    ${postForm(token, '/console/settings/SETUP_CHECKLIST', hide, 'inline')}
  </section>`
}
