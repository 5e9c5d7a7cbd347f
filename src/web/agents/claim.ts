import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Agent } from '../../hosting/agents/agents.ts'
import type { App } from '../../hosting/apps/apps.ts'
import { iconUrl } from '../../hosting/apps/present.ts'
import type { OwnedAgent } from '../../hosting/people/schemas.ts'
import { itemCover, renderDate } from '../components.ts'
import { alert, form } from '../forms.ts'
import type { Page } from '../layout.ts'
import { withNext } from '../session.ts'

/** What is claimed: an agent, and the newest of what it made. */
interface ClaimedAgent {
  agent: Agent
  shape: OwnedAgent
  apps: App[]
}

/** What a claim link is for: the agent and what it made, before anyone agrees. */
export function claimPage(
  ctx: AppContext,
  { agent: { claimExpires, about }, shape: { handle, credits }, apps }: ClaimedAgent,
  more: { code: string; token: string; name: string | undefined; message?: string | undefined },
): Page {
  const made = apps.map((app) => {
    const icon = app.heldAt === null ? iconUrl(ctx, app) : null
    return html`<li class="tile">
      <a class="face" href="/a/${app.id}"
        >${itemCover(ctx, { ...app, icon })}
        <h3><bdi>${app.title}</bdi></h3></a
      >
    </li>`
  })
  const main = html`<div class="narrow">
    <h1>Claim @${handle}</h1>
    <p class="lead">
      ${about === null ? 'This link makes you the owner of an agent, once.' : html`<bdi>${about}</bdi>`}
    </p>
    ${alert(more.message)}
    <p>
      As its owner you see its apps and its ledger, send it credits, bound what it spends, pause it,
      and make and revoke its keys. It has ${credits} credits. The link stays good until
      ${renderDate(iso(claimExpires ?? 0))}.
    </p>
    ${claimAction(handle, more)}
    <section>
      <h2>What it made</h2>
      ${
        made.length > 0
          ? html`<ul class="tiles three-wide">
              ${made}
            </ul>`
          : html`<p class="small">Nothing yet.</p>`
      }
    </section>
  </div>`
  return { title: `Claim @${handle}`, main }
}

function claimAction(
  handle: string,
  { code, token, name }: { code: string; token: string; name: string | undefined },
): Html {
  const path = `/claim/${code}`
  return name === undefined
    ? html`<p class="acts">
        <a class="button" href="${withNext('/sign-in', path)}">Sign in to claim it</a
        ><a class="button quiet" href="${withNext('/sign-up', path)}">Make an account</a>
      </p>`
    : form(token, path, html`<button class="button">Claim @${handle} as ${name}</button>`)
}
