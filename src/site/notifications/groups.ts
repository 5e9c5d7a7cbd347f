import { utcDay } from '../../kernel/time.ts'
import type { NoteKind } from '../../people/notifications/kinds.ts'
import type { Note } from '../../people/notifications/notifications.ts'

/** A note with the handle of its agent. */
export interface AgentNote {
  note: Note
  handle: string
}

/** The notes of an agent about one item on one UTC day, or one note that is about no item. */
export interface NoteGroup {
  handle: string
  item: string | null
  /** Failed ones first, then the newest. */
  notes: Note[]
  at: number
  isUnread: boolean
  hasFailed: boolean
}

const failures: readonly NoteKind[] = [
  'build.failed',
  'app.error',
  'report.opened',
  'item.taken_down',
]

/** Is true for a note about something that went wrong, which its reader should see first. */
export const isFailure = ({ kind, data }: Note): boolean =>
  failures.includes(kind) || (kind === 'run.reported' && data['outcome'] === 'failed')

/** Leaves out the start of each run that is reported, too. */
function withoutStarts(notes: AgentNote[]): AgentNote[] {
  const reported = new Set(
    notes.flatMap(({ note }) => (note.kind === 'run.reported' ? String(note.data['run']) : [])),
  )
  return notes.filter(
    ({ note }) => note.kind !== 'run.started' || !reported.has(String(note.data['run'])),
  )
}

/** Groups notes by agent, item and UTC day, in no order. */
export function groupNotes(notes: AgentNote[]): NoteGroup[] {
  const groups = Map.groupBy(withoutStarts(notes), ({ note, handle }) =>
    note.item === null ? note.id : `${utcDay(note.at)} ${handle} ${note.item}`,
  )
  return [...groups.values()].map((members) => {
    const sorted = members
      .map(({ note }) => note)
      .toSorted((a, b) => Number(isFailure(b)) - Number(isFailure(a)) || b.at - a.at)
    return {
      handle: members[0]?.handle ?? '',
      item: sorted[0]?.item ?? null,
      notes: sorted,
      at: Math.max(...sorted.map(({ at }) => at)),
      isUnread: sorted.some(({ read }) => read === null),
      hasFailed: sorted.some(isFailure),
    }
  })
}

/** Counts the runs of a group by their outcome. A run that is not reported yet has none. */
export function countRuns(notes: Note[]): { runs: number; outcomes: Map<string, number> } {
  const outcomes = new Map<string, number>()
  let runs = 0
  for (const { kind, data } of notes) {
    if (kind !== 'run.started' && kind !== 'run.reported') continue
    runs += 1
    const outcome = data['outcome']
    if (typeof outcome === 'string') outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  return { runs, outcomes }
}
