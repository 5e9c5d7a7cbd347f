import { extend } from './bridge-calls.ts'
/**
 * `claude.use(name)` of pages in Claude Code, over `service`. Source: the type definitions that
 * Claude serves to pages, and public pages (November 2026).
 */
import { claudeDb as db } from './claude-db.ts'
import { claudeDownloads as downloads } from './claude-downloads.ts'
import { claudePermissions as permissions } from './claude-permissions.ts'
import { sample } from './claude-prompts.ts'
import { claudeRoom as room } from './claude-room.ts'
import { claudeUser as user } from './claude-user.ts'

/**
 * No page publishes itself here, nor calls connectors: `artifact`, its old name `self`, `mcp` and
 * unknown names give null, as where a view cannot run them.
 */
const namespaces = { db, room, sample, user, downloads, permissions }
const opened = new Map<string, Promise<unknown>>(
  Object.entries(namespaces).map(([name, space]) => [name, Promise.resolve(space)]),
)
const absent = Promise.resolve(null)

extend('claude', {
  /** Never rejects, and asks nothing. The namespace asks with its first call. */
  use: (name: string): Promise<unknown> => opened.get(name) ?? absent,
  // Older pages have them as members.
  ...namespaces,
})
