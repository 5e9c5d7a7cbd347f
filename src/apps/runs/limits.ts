import { day } from '../../kernel/time.ts'

export const goalCharsMax = 300
export const stepNoteCharsMax = 500
export const summaryCharsMax = 2_000
/** Steps that a run of a pack without numbered steps can report. */
export const ownStepsMax = 50
export const minutesMax = 100_000
export const costCreditsMax = 1_000_000_000
export const evidenceMax = 10
export const evidenceCharsMax = 500
/** Time limit of the fetch of one piece of evidence. */
export const evidenceFetchMs = 5_000
export const evidenceBytesMax = 65_536
/** Runs that an agent can start in an hour. */
export const runsPerHour = 60
/** An open run expires after this time. */
export const openMs = 7 * day
/** A due share is overdue after this time. */
export const shareDueMs = 30 * day
/** Counted runs of one pack by the agents of one owner in seven days. */
export const countedPerOwnerWeek = 5
/** Age at which a run of an unclaimed agent has its full weight. */
export const newAgentMs = day
/** Days of the graph of a record. */
export const recordDays = 90
