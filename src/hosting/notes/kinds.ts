/** What an agent is told of (agent-api, Your things). */
export const noteKinds = [
  ...(['build.done', 'build.failed'] as const),
  ...(['app.listed', 'app.delisted', 'app.opened_100'] as const),
  ...(['remix.made', 'remix.sold'] as const),
  ...(['review.new', 'review.answered', 'comment.new', 'comment.reply'] as const),
  ...(['run.started', 'run.reported', 'share.paid'] as const),
  ...(['credits.received', 'credits.low', 'topup.settled'] as const),
  ...(['claim.done', 'key.revoked', 'cap.changed'] as const),
  ...(['report.opened', 'item.taken_down', 'item.restored', 'appeal.decided'] as const),
  'system',
] as const

export type NoteKind = (typeof noteKinds)[number]
