import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { parseCredits, toCredits } from '../../kernel/money.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { iso } from '../../kernel/time.ts'
import { lockOwner, type Project } from '../../money/keys/keys.ts'
import * as stored from '../../money/keys/projects.ts'
import { projectCounter } from '../../money/keys/restrictions.ts'
import { sumSpendingByPeriod } from '../../money/ledger/reports.ts'
import { invalidField } from '../fields.ts'
import { projectNameCharsMax, projectsPerAccountMax } from '../limits.ts'
import type { KeyManager } from './key-settings.ts'
import type { ProjectParams, ProjectResponse } from './schemas.ts'

/** Throws `not_found` for a project that is not one of the account. */
export async function requireProject(db: Db, owner: string, id: string): Promise<Project> {
  const project = await stored.find(db, owner, id)
  if (project) return project
  throw new ApiError('not_found', { what: 'project', see: 'GET /v1/accounts/projects lists them.' })
}

/** Lists the projects of the account, with what each has spent in its periods. */
export async function list(ctx: AppContext, manager: KeyManager): Promise<ProjectResponse[]> {
  const projects = await stored.list(ctx.db.read, manager.owner.owner)
  return Promise.all(projects.map((project) => present(ctx, project)))
}

/** Creates a project. Throws `bad_request`, `key_above_own` for a key of another project. */
export async function add(
  ctx: AppContext,
  manager: KeyManager,
  params: ProjectParams & { name: string },
): Promise<ProjectResponse> {
  const owner = ownerOf(manager)
  const project = await ctx.db.tx(async (db) => {
    await lockOwner(db, owner)
    const existing = await stored.list(db, owner)
    if (existing.length >= projectsPerAccountMax) {
      rejectRequest(
        `The maximum of ${projectsPerAccountMax} projects is reached. Delete one first.`,
      )
    }
    requireNewName(existing, params.name)
    const caps = { dailyCap: null, weeklyCap: null, monthlyCap: null, ...readCaps(params) }
    return stored.create(db, ctx.clock, owner, { ...caps, name: params.name })
  })
  return present(ctx, project)
}

/** Changes a project. Throws `bad_request`, `not_found`, `key_above_own`. */
export async function edit(
  ctx: AppContext,
  manager: KeyManager,
  id: string,
  params: ProjectParams,
): Promise<ProjectResponse> {
  const owner = ownerOf(manager)
  const { name } = params
  await ctx.db.tx(async (db) => {
    await lockOwner(db, owner)
    await requireProject(db, owner, id)
    const others = (await stored.list(db, owner)).filter((one) => one.id !== id)
    if (name !== undefined) requireNewName(others, name)
    await stored.update(db, owner, id, { ...readCaps(params), ...(name !== undefined && { name }) })
  })
  ctx.keys.forget()
  return present(ctx, await requireProject(ctx.db.read, owner, id))
}

/** Deletes a project; its keys stay, without its budgets. Throws `not_found`, `key_above_own`. */
export async function remove(ctx: AppContext, manager: KeyManager, id: string): Promise<void> {
  const owner = ownerOf(manager)
  await ctx.db.tx(async (db) => {
    await lockOwner(db, owner)
    await requireProject(db, owner, id)
    await stored.remove(db, owner, id)
  })
  ctx.keys.forget()
}

/** Returns the account that manages projects. A key of a project would widen its own limits. */
function ownerOf({ owner, key }: KeyManager): string {
  if (owner.kind !== 'gateway') {
    throw new ApiError('bad_request', { problem: 'Only gateway accounts have projects.' })
  }
  if (key && key.project !== null) throw new ApiError('key_above_own', { field: 'project' })
  return owner.owner
}

function requireNewName(existing: Project[], name: string): void {
  if (name === '' || !isPlainLine(name, projectNameCharsMax)) {
    const problem = `name must be one line of 1 to ${projectNameCharsMax} characters.`
    throw invalidField('name', problem)
  }
  if (existing.every((project) => project.name !== name)) return
  throw invalidField('name', `The account has a project ${name}. Choose another name.`)
}

function readCaps(params: ProjectParams): Partial<stored.ProjectSettings> {
  const cap = (field: 'daily_cap' | 'weekly_cap' | 'monthly_cap') => {
    const credits = params[field] ?? null
    return credits === null ? null : parseCredits(credits, field)
  }
  return {
    ...(params.daily_cap !== undefined && { dailyCap: cap('daily_cap') }),
    ...(params.weekly_cap !== undefined && { weeklyCap: cap('weekly_cap') }),
    ...(params.monthly_cap !== undefined && { monthlyCap: cap('monthly_cap') }),
  }
}

async function present(ctx: AppContext, project: Project): Promise<ProjectResponse> {
  const { id, name, dailyCap, weeklyCap, monthlyCap, created } = project
  const counter = projectCounter(id)
  const { day, week, month } = (await sumSpendingByPeriod(ctx, [counter]))(counter)
  return {
    id,
    name,
    daily_cap: dailyCap === null ? null : toCredits(dailyCap),
    weekly_cap: weeklyCap === null ? null : toCredits(weeklyCap),
    monthly_cap: monthlyCap === null ? null : toCredits(monthlyCap),
    spent: { day: toCredits(day), week: toCredits(week), month: toCredits(month) },
    created: iso(created),
  }
}
