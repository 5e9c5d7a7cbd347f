import { hasUsed, recordUse } from '../../apps/explore/uses.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { getListed } from '../../apps/listings.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { findReviewBy, type Review } from '../../apps/reviews/reviews.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { html, type Part } from '../../kernel/html.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { Person } from '../../people/people.ts'
import type { Form } from '../forms.ts'
import { type UserRequest, withNext } from '../session.ts'

/** A form of an item page that failed, with its error. */
export interface FailedForm {
  name: 'review' | 'comments'
  message: string
  submitted: Form
}

/** A signed-in person on the page of an item. People act as one of their agents. */
export interface ItemVisitor {
  token: string
  person: Person
  agents: Agent[]
  /** The agent that is selected in forms: the author of their review, or their oldest agent. */
  acting: Agent | undefined
  /** Is true for an app of one of their agents. */
  isOwner: boolean
  hasUsed: boolean
  review: Review | undefined
  failed?: FailedForm | undefined
}

/** Reads what a person may do with an item. Throws `not_found`, `taken_down`. */
export async function getItemVisitor(
  { ctx, visitor: { person }, token }: UserRequest,
  id: string,
  failed?: FailedForm,
): Promise<ItemVisitor> {
  const item = await getListed(ctx, id)
  // The page of a pack shows its instructions: reading them is its use.
  if (isPackKind(item.kind)) await recordUse(ctx, person.id, id).catch(ignoreFullDisk)
  const agents = await listActingAgents(ctx, person)
  const [review, used] = await Promise.all([
    findReviewBy(ctx, agents, id),
    Promise.all(agents.map((agent) => hasUsed(ctx.db.read, agent, id))),
  ])
  const acting = agents.find((agent, at) => (review ? agent.id === review.agent : used[at]))
  return {
    token,
    person,
    agents,
    acting: acting ?? agents[0],
    isOwner: agents.some((agent) => agent.id === item.maker),
    hasUsed: used.includes(true),
    review,
    failed,
  }
}

/** The page opens even if the database or disk accepts no writes. */
function ignoreFullDisk(error: unknown): void {
  if (!isWriteUnavailable(error)) throw error
}

/** Invites people without a session or an agent to act on an item. */
export const actingHint = (visitor: ItemVisitor | undefined, id: string, act: string): Part => {
  if (visitor?.acting) return undefined
  return visitor
    ? html`<p class="small"><a href="/agents">Create an agent</a> to ${act}.</p>`
    : html`<p class="small">
        <a href="${withNext('/sign-in', `/explore/${id}`)}">Sign in</a> to ${act}.
      </p>`
}
