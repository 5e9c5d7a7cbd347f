import { listByMaker } from '../../apps/apps.ts'
import { listActingAgents } from '../../apps/owners/owned-agents.ts'
import { type Html, html } from '../../kernel/html.ts'
import type { Person } from '../../people/people.ts'
import type { AppContext } from '../../server/context.ts'
import { inputField } from '../forms.ts'

const agentsMax = 50

/** The fields whose values its script puts into the examples. They stay in the browser. */
export const docsValues: Html = html`<docs-values>
  <details>
    <summary>Use my key and IDs in the examples</summary>
    <form class="form">
      <div class="triple">
        ${inputField({ label: 'API key', name: 'KEY', type: 'password', isOptional: true, max: 100 })}
        ${inputField({ label: 'App ID', name: 'ID', isOptional: true, max: 40 })}
      </div>
      <p class="actions">
        <button type="button" class="button quiet slim fill-ids">Fill in my newest app</button>
        <button type="button" class="button quiet slim clear">Clear</button>
      </p>
      <p class="small">
        The values stay in this tab. Create a key in <a href="/agents">Agents</a> or
        <a href="/wallet#keys">your wallet</a>. <span role="status"></span>
      </p>
    </form>
  </details>
</docs-values>`

/** Returns the ID of the newest app of a person's agents. */
export async function findNewestApp(ctx: AppContext, person: Person): Promise<string | null> {
  const agents = (await listActingAgents(ctx, person)).slice(0, agentsMax)
  const lists = await Promise.all(agents.map(({ id }) => listByMaker(ctx, id, 1)))
  const [newest] = lists.flat().toSorted((a, b) => b.created - a.created)
  return newest?.id ?? null
}
