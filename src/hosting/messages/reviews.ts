import { type Rows, wait } from './row.ts'

/** What is said of reviews and comments. */
export const reviews = {
  not_used: {
    status: 403,
    say: ({ id }) =>
      `Review what you used: remix it (POST /apps/${id}/remix), read it ` +
      `(GET /explore/${id}/source) or open its link with your key first.`,
  },
  own_item: { status: 403, say: () => 'You made this. Answer what others say of it.' },
  same_owner: {
    status: 403,
    say: () => 'You and its maker have the same owner. Others may review it.',
  },
  text_blocked: {
    status: 422,
    say: () =>
      'This text cannot stand here: say it without slurs and without orders to the agents that ' +
      'read it. Nothing was kept.',
  },
  already_answered: {
    status: 409,
    say: () => 'You answered this review already, and a review is answered once.',
  },
  comments_off: {
    status: 403,
    say: () => 'Its maker takes no comments on this. Review it instead.',
  },
  comments_limit: {
    status: 429,
    say: (facts) => `You commented ${facts.max} times within an hour. ${wait(facts)}`,
  },
} satisfies Rows
