import { findApp } from '../../apps/apps.ts'
import { findRun, getReadableRun, presentRun, type RunView } from '../../apps/runs/runs.ts'
import type { Evidence, RunBody } from '../../apps/runs/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { findAgent } from '../../people/agents/agents.ts'
import type { Person } from '../../people/people.ts'
import { section, statList } from '../components.ts'
import { formatAmount, renderDate } from '../format.ts'
import type { Layout, Page } from '../layout.ts'
import { sendUncached } from '../public-pages.ts'
import { findUser, pageRoutes, privatePage } from '../session.ts'
import { outcomeBadge } from './record.ts'

/** The pages of runs. */
export const runRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/runs/:id', async ({ input, params: { id } }) => {
    const req = await findUser(input)
    if (req) return privatePage(req, await runPage(ctx, id, req.visitor.person))
    return sendUncached(input, () => runPage(ctx, id))
  })

/**
 * Renders a run: its outcome, evidence and the maker's answer. The owners of the agent and of the
 * maker and the operator also see the goal and the steps. Throws `run_not_found`.
 */
export async function runPage(ctx: AppContext, id: string, person?: Person): Promise<Page> {
  const view = await viewFor(ctx, id, person)
  const row = view === 'all' ? await findRun(ctx, id) : undefined
  const run = row ?? (await getReadableRun(ctx, undefined, id))
  const [body, pack] = await Promise.all([presentRun(ctx, run, view), findApp(ctx, run.pack)])
  const title = pack?.title ?? t('a deleted pack')
  return {
    title: t('Run of {title} by {agent}', { title, agent: body.agent }),
    path: `/runs/${id}`,
    section: '/explore',
    description: t('How {agent} followed {title}.', { agent: body.agent, title }),
    styles: ['packs.css'],
    main: html`<article class="run">
      <p class="crumbs">
        <a href="/explore/${run.pack}#record">Track record of <bdi>${title}</bdi></a>
      </p>
      <h1>Run by ${body.agent}</h1>
      <p class="facts">
        ${outcomeBadge(body)}<span>Version ${body.version}</span
        ><span>${renderDate(body.closed ?? body.started)}</span
        >${runFacts(body).map((fact) => html`<span>${fact}</span>`)}<span
          >${body.counted ? countedText(body) : t('Not counted in the record')}</span
        >
      </p>
      ${body.summary !== null && html`<p class="text lead"><bdi>${body.summary}</bdi></p>`}
      ${evidenceList(t('Evidence'), body.evidence)} ${privatePart(body)}
      ${
        body.answer &&
        section(
          t('Answer of the maker'),
          html`<blockquote class="text"><bdi>${body.answer.text}</bdi></blockquote>
            <p class="small">${renderDate(body.answer.at)}</p>`,
        )
      }
    </article>`,
  }
}

/** Returns how much of a run a person may read. */
async function viewFor(ctx: AppContext, id: string, person: Person | undefined): Promise<RunView> {
  const run = person && (await findRun(ctx, id))
  if (!person || !run) return 'public'
  if (person.operator) return 'all'
  const [agent, maker] = await Promise.all([findAgent(ctx, run.agent), findAgent(ctx, run.maker)])
  return agent?.owner === person.id || maker?.owner === person.id ? 'all' : 'public'
}

const countedText = ({ weight }: RunBody): string =>
  weight === 1
    ? t('Counts in the record')
    : t('Counts {weight} in the record: a new agent', { weight })

const shareLabels: Record<string, Text> = {
  verified: msg('Paid and verified on the chain'),
  unlinked: msg('A payment is not linked to this run'),
  mismatch: msg('A payment does not match'),
  no_proof: msg('Due, without proof of payment'),
  unreadable: msg('The chain did not respond'),
}

/** Time, cost and the maker's share, where they are known. */
const runFacts = ({ minutes, costCredits, share }: RunBody): string[] => [
  ...(minutes === null ? [] : [t('{minutes} min', { minutes })]),
  ...(costCredits === null ? [] : [formatAmount(costCredits, 'credit')]),
  ...(share?.verdict
    ? [t("Maker's share: {state}", { state: lookUp(shareLabels, share.verdict) ?? '' })]
    : []),
]

const kindLabels = {
  app: msg('App'),
  url: msg('URL'),
  tx: msg('Transaction'),
  hash: msg('Hash'),
  text: msg('Text'),
} as const satisfies Record<Evidence['kind'], Text>

/** A URL is text, not a link, because its target is unchecked. */
const evidenceList = (title: string, evidence: Evidence[]): Part =>
  evidence.length > 0 &&
  section(
    title,
    html`<ul class="rows">
      ${evidence.map(
        ({ kind, value, note, verified }) =>
          html`<li>
            <p class="facts">
              <span>${kindLabels[kind]}</span
              ><span class="outcome ${verified ? 'worked' : 'none'}"
                >${verified ? t('Verified') : t('Not verified')}</span
              >
            </p>
            ${kind === 'app' ? html`<a href="/a/${value}">${value}</a>` : html`<code><bdi>${value}</bdi></code>`}
            ${note !== null && html`<p class="text"><bdi>${note}</bdi></p>`}
          </li>`,
      )}
    </ul>`,
  )

const stepLabels = { done: msg('Done'), skipped: msg('Skipped'), failed: msg('Failed') } as const

function privatePart({ goal, steps = [], share }: RunBody): Part {
  const due = share?.due
  return html`${
    goal != null &&
    section(
      t('Goal'),
      html`<p class="text"><bdi>${goal}</bdi></p>
        <p class="small">
          Only the agent, the maker, their owners and the operator see this part.
        </p>`,
    )
  }${
    steps.length > 0 &&
    section(
      t('Steps'),
      html`<ol class="steps-list">
        ${steps.map(
          ({ step, state, note }) =>
            html`<li>
              <strong>${step}</strong> <span class="small">${stepLabels[state]}</span>
              ${note !== null && html`<p class="small text"><bdi>${note}</bdi></p>`}
            </li>`,
        )}
      </ol>`,
    )
  }${
    due &&
    section(
      t('Share'),
      statList([
        [t('Due'), t('{amount} USDC', { amount: due.amount })],
        [t('Until'), renderDate(due.dueBy)],
        [t('Network'), due.network],
        [t('Paid with'), share.payment ? html`<code>${share.payment.tx}</code>` : '–'],
      ]),
    )
  }`
}
