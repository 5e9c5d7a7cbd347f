import { flag, index, table, text, time } from '../../kernel/db/columns.ts'

/** Sign-ins of devices that wait for a person. Only the SHA-256 of each code is stored. */
export const deviceCodes = table(
  'device_codes',
  {
    hash: text('hash').primaryKey(),
    /** The hash of the code that the person enters. */
    userHash: text('user_hash').notNull().unique(),
    /** The client_id: the name of the program, which the page shows and the key gets. */
    client: text('client').notNull(),
    expires: time('expires').notNull(),
    /** The agent that gets a key, and the person who approved it. */
    agent: text('agent'),
    person: text('person'),
    denied: flag('denied').notNull().default(false),
  },
  (t) => [index('device_codes_expires').on(t.expires)],
)
