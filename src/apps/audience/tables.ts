import { index, primaryKey, table, text, time } from '../../kernel/db/columns.ts'

/** People and groups that may open an app with the audience `people`. */
export const audienceMembers = table(
  'audience_members',
  {
    app: text('app').notNull(),
    kind: text('kind').$type<'person' | 'group'>().notNull(),
    /** The id of a person, or the name of a group. */
    member: text('member').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.app, t.kind, t.member] }),
    index('audience_members_member').on(t.kind, t.member),
  ],
)

/** Named links that open an app to whoever has one. Only the SHA-256 of the secret is stored. */
export const shareLinks = table(
  'share_links',
  {
    id: text('id').primaryKey(),
    app: text('app').notNull(),
    name: text('name').notNull(),
    hash: text('hash').notNull().unique(),
    created: time('created').notNull(),
    expires: time('expires'),
    used: time('used'),
  },
  (t) => [index('share_links_app').on(t.app, t.created)],
)
