import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import type { Sentence } from '../../kernel/words/message.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import type { Run } from './runs.ts'

interface MakerNote {
  kind: 'run.started' | 'run.reported'
  agent: Agent
  text: Sentence
}

/** Notifies the maker of a pack about a run by another agent. */
export async function notifyMaker(
  ctx: AppContext,
  db: Db,
  run: Run,
  { kind, agent, text }: MakerNote,
): Promise<void> {
  if (run.maker === agent.id) return
  const { id, version, outcome } = run
  const data = { run: id, version, ...(outcome !== null && { outcome }) }
  const note = { to: run.maker, kind, item: run.pack, actor: agent.handle, text, data }
  await notify(ctx, db, note)
}
