import { and, asc, eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import type { Clock } from '../../kernel/time.ts'
import type { Project } from './keys.ts'
import { keys, projects } from './tables.ts'

/** The name and the budgets of a project. */
export type ProjectSettings = Pick<Project, 'name' | 'dailyCap' | 'weeklyCap' | 'monthlyCap'>

const isOf = (owner: string, id: string) => and(eq(projects.owner, owner), eq(projects.id, id))

/** Lists the projects of a gateway account by name. Their creator limits the number. */
export const list = (db: Db, owner: string): Promise<Project[]> =>
  db.select().from(projects).where(eq(projects.owner, owner)).orderBy(asc(projects.name))

/** Finds a project of a gateway account. */
export async function find(db: Db, owner: string, id: string): Promise<Project | undefined> {
  // PostgreSQL fails on a NUL.
  if (!idPattern.test(id)) return undefined
  const [project] = await db.select().from(projects).where(isOf(owner, id))
  return project
}

/** Creates a project. Its name must be new in the account. */
export async function create(
  db: Db,
  clock: Clock,
  owner: string,
  settings: ProjectSettings,
): Promise<Project> {
  const project = { ...settings, id: newId(), owner, created: clock.now() }
  await db.insert(projects).values(project)
  return project
}

/** Changes a project. Call `KeyRing.forget()` after the commit. */
export async function update(
  db: Db,
  owner: string,
  id: string,
  changes: Partial<ProjectSettings>,
): Promise<void> {
  if (Object.keys(changes).length > 0) await db.update(projects).set(changes).where(isOf(owner, id))
}

/** Deletes a project. Its keys stay, without one. Call `KeyRing.forget()` after the commit. */
export async function remove(db: Db, owner: string, id: string): Promise<void> {
  await db
    .update(keys)
    .set({ project: null })
    .where(and(eq(keys.owner, owner), eq(keys.project, id)))
  await db.delete(projects).where(isOf(owner, id))
}
