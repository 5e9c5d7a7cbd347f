import { findApp, getVersion } from '../../apps/apps.ts'
import { findRun, getReadableRun, presentRun, type RunView } from '../../apps/runs/runs.ts'
import type { Evidence, RunBody } from '../../apps/runs/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { findAgent } from '../../people/agents/agents.ts'
import type { Person } from '../../people/people.ts'
import { section, statList, trail } from '../components.ts'
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
      ${trail([`/explore/${run.pack}#record`, html`Track record of <bdi>${title}</bdi>`])}
      <div class="title">
        <h1>
          Run by <a href="/explore/${body.agent}"><bdi>${body.agent}</bdi></a>
        </h1>
        ${outcomeBadge(body)}
      </div>
      <div class="run-columns">
        <div>
          ${body.summary !== null && html`<p class="text lead"><bdi>${body.summary}</bdi></p>`}
          ${goalAndSteps(body, await stepTitles(ctx, run))} ${evidenceList(body.evidence)}
          ${
            body.answer &&
            section(
              t('Answer of the maker'),
              html`<blockquote class="text"><bdi>${body.answer.text}</bdi></blockquote>
                <p class="small">${renderDate(body.answer.at)}</p>`,
            )
          }
          ${shareDetails(body)}
        </div>
        <aside aria-label="Facts">${statList(runFacts(body))}</aside>
      </div>
    </article>`,
  }
}

/** Returns the titles of the steps of the version that a run followed, by their ids. */
async function stepTitles(
  ctx: AppContext,
  { pack, version }: { pack: string; version: number },
): Promise<Map<string, string>> {
  const row = await getVersion(ctx, pack, version).catch(() => undefined)
  return new Map((row?.folder?.steps ?? []).map(({ id, title }) => [id, title]))
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

/** Version, time, cost and the maker's share, where they are known. */
const runFacts = (body: RunBody): [Text, Part][] => {
  const { version, minutes, costCredits, share } = body
  const facts: [Text, Part][] = [
    [t('Version'), version],
    [t('Date'), renderDate(body.closed ?? body.started)],
    [t('Time'), minutes !== null && t('{minutes} min', { minutes })],
    [t('Cost'), costCredits !== null && formatAmount(costCredits, 'credit')],
    [t("Maker's share"), share?.verdict && lookUp(shareLabels, share.verdict)],
    [t('Track record'), body.counted ? countedText(body) : t('Not counted in the record')],
  ]
  return facts.filter(([, value]) => value !== false && value != null)
}

const kindLabels = {
  app: msg('App'),
  url: msg('URL'),
  tx: msg('Transaction'),
  hash: msg('Hash'),
  text: msg('Text'),
} as const satisfies Record<Evidence['kind'], Text>

/** A URL is text, not a link, because its target is unchecked. */
const evidenceList = (evidence: Evidence[]): Part =>
  evidence.length > 0 &&
  section(
    t('Evidence'),
    html`<ol class="evidence">
      ${evidence.map(
        ({ kind, value, note, verified }) =>
          html`<li>
            <p class="facts">
              <strong>${note === null ? kindLabels[kind] : html`<bdi>${note}</bdi>`}</strong
              >${note !== null && html`<span>${kindLabels[kind]}</span>`}<span
                class="outcome ${verified ? 'worked' : 'none'}"
                >${verified ? t('Verified') : t('Not verified')}</span
              >
            </p>
            ${kind === 'app' ? html`<a href="/a/${value}">${value}</a>` : html`<pre class="plain-file" tabindex="0" aria-label="${kindLabels[kind]}"><code>${value}</code></pre>`}
          </li>`,
      )}
    </ol>`,
  )

const stepStates = {
  done: [msg('Done'), 'worked'],
  skipped: [msg('Skipped'), 'none'],
  failed: [msg('Failed'), 'failed'],
} as const

/** The part that both owners and the operator see. */
function goalAndSteps({ goal, steps = [] }: RunBody, titles: Map<string, string>): Part {
  if (goal == null && steps.length === 0) return undefined
  return html`${goal != null && section(t('Goal'), html`<p class="text"><bdi>${goal}</bdi></p>`)}${
      steps.length > 0 &&
      section(
        t('Steps'),
        html`<ol class="steps-list">
          ${steps.map(({ step, state, note }) => {
            const [label, style] = stepStates[state]
            const title = titles.get(step)
            return html`<li>
              <p class="facts">
                <strong
                  >${title === undefined ? html`<code>${step}</code>` : html`<bdi>${title}</bdi>`}</strong
                ><span class="outcome ${style}">${label}</span>
              </p>
              ${note !== null && html`<p class="small text"><bdi>${note}</bdi></p>`}
            </li>`
          })}
        </ol>`,
      )
    }
    <p class="small private-note">
      Only the agent, the maker, their owners and the operator see the goal and the steps.
    </p>`
}

const shareDetails = ({ share }: RunBody): Part =>
  share?.due &&
  section(
    t('Share'),
    statList([
      [t('Due'), t('{amount} USDC', { amount: share.due.amount })],
      [t('Until'), renderDate(share.due.dueBy)],
      [t('Network'), share.due.network],
      [t('Paid with'), share.payment ? html`<code>${share.payment.tx}</code>` : '–'],
    ]),
  )
