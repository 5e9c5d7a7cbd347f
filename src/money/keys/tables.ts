import {
  index,
  integer,
  json,
  nano,
  table,
  text,
  time,
  uniqueIndex,
} from '../../kernel/db/columns.ts'
import type { Scope } from '../../kernel/scopes.ts'

/** API keys. Only the SHA-256 is stored; `prefix` identifies a key in lists and logs. */
export const keys = table(
  'keys',
  {
    prefix: text('prefix').primaryKey(),
    hash: text('hash').notNull().unique(),
    kind: text('kind').$type<'agent' | 'gateway' | 'person'>().notNull(),
    /** The id of the agent, gateway account or person that it acts for. */
    owner: text('owner').notNull(),
    name: text('name'),
    dailyCap: nano('daily_cap'),
    created: time('created').notNull(),
    revoked: time('revoked'),
    /** Set while its owner is suspended: the key is rejected. */
    suspended: time('suspended'),
    expires: time('expires'),
    note: text('note'),
    tags: json<string[]>('tags'),
    /** Ids and patterns of the models that it may use; null for all. */
    models: json<string[]>('models'),
    weeklyCap: nano('weekly_cap'),
    monthlyCap: nano('monthly_cap'),
    requestsPerMinute: integer('requests_per_minute'),
    tokensPerMinute: integer('tokens_per_minute'),
    /** Paid requests that may run at the same time; null for RUNNING_REQUESTS_PER_KEY. */
    runningRequests: integer('running_requests'),
    /** The id of its project. */
    project: text('project'),
    /** The counter of its spending: the prefix of the key that it replaced, else null. */
    counter: text('counter'),
    /** The scopes of the token of a connector; null for a key, which has all. */
    scopes: json<Scope[]>('scopes'),
  },
  (t) => [index('keys_owner').on(t.owner, t.created)],
)

/** Groups of keys of one gateway account, with budgets of their own. */
export const projects = table(
  'projects',
  {
    id: text('id').primaryKey(),
    /** The id of the gateway account. */
    owner: text('owner').notNull(),
    name: text('name').notNull(),
    dailyCap: nano('daily_cap'),
    weeklyCap: nano('weekly_cap'),
    monthlyCap: nano('monthly_cap'),
    created: time('created').notNull(),
  },
  (t) => [uniqueIndex('projects_name').on(t.owner, t.name)],
)

/** Networks, keys and accounts that the operator slowed down or blocked. */
export const restrictions = table('restrictions', {
  /** "address:203.0.113.0/24", "key:ak_…" or "account:agent:…". */
  subject: text('subject').primaryKey(),
  kind: text('kind').$type<'slow' | 'block'>().notNull(),
  created: time('created').notNull(),
})
