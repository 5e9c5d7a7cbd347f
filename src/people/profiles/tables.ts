import { flag, index, json, table, text, time } from '../../kernel/db/columns.ts'
import type { ProfilePart } from './parts.ts'

/** The public selves of people. A person without a row has none. */
export const profiles = table(
  'profiles',
  {
    person: text('person').primaryKey(),
    handle: text('handle').notNull().unique(),
    /** The handle with look-alike letters made equal. */
    skeleton: text('skeleton').notNull().unique(),
    /** The handle before. It stays theirs, and leads to the new one. */
    formerHandle: text('former_handle'),
    formerSkeleton: text('former_skeleton'),
    about: text('about'),
    /** Anyone can open the page. */
    isPublic: flag('public').notNull(),
    shows: json<ProfilePart[]>('shows').notNull(),
    /** The name of the avatar, and its WebP in base64. */
    avatar: text('avatar'),
    avatarBytes: text('avatar_bytes'),
    created: time('created').notNull(),
    /** When and why the operator hid the page. */
    hidden: time('hidden'),
    hiddenFor: text('hidden_for'),
  },
  (t) => [
    index('profiles_former_handle').on(t.formerHandle),
    index('profiles_former_skeleton').on(t.formerSkeleton),
  ],
)
