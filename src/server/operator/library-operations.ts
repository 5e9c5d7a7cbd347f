import { type Static, Type } from '@sinclair/typebox'

import * as libraries from '../../apps/libraries/added.ts'
import { downloadLibrary } from '../../apps/libraries/registry.ts'
import { TarballError } from '../../apps/libraries/tarball.ts'
import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { strictObject } from '../../kernel/schema.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { operator } from '../../people/session-user.ts'

const operation = operationsOf('Operator')

const LibraryRequestSchema = strictObject({ library: Type.String({ maxLength: 300 }) })
const AddedLibrarySchema = Type.Object({
  name: Type.String(),
  version: Type.String(),
  license: Type.String({ description: 'SPDX name, or "unknown".' }),
  files: Type.Integer(),
})

/** A package that the library store now has. */
export type AddedLibrary = Static<typeof AddedLibrarySchema>

/**
 * Downloads a package by its label, "three@0.180.0", and adds it to the library store with a
 * record in the same transaction. Throws TarballError with the reason.
 */
async function addFromRegistry(
  ctx: AppContext,
  label: string,
  record: (db: Db) => Promise<void>,
): Promise<AddedLibrary> {
  const [, name, exact] = /^((?:@\w[\w.-]*\/)?\w[\w.-]*)@(\d[\w.+-]*)$/.exec(label) ?? []
  if (name === undefined || exact === undefined)
    throw new TarballError('Enter a package with an exact version, such as three@0.180.0.')
  const library = await downloadLibrary(await registryOf(ctx), name, exact)
  await libraries.addLibrary(ctx, library, 'added', record)
  const { version, license, files } = library
  return { name, version, license, files: files.size }
}

/** Returns the registry of the setting, else the one that npm on this machine uses. */
async function registryOf({ config }: AppContext): Promise<string> {
  if (config.libraryRegistry !== '') return config.libraryRegistry
  try {
    const npm = Bun.spawn(['npm', 'config', 'get', 'registry'], {
      stderr: 'ignore',
      timeout: 10_000,
    })
    const url = URL.parse((await npm.stdout.text()).trim())
    if (url && /^https?:$/.test(url.protocol)) return url.href
  } catch {
    // Without npm the message below says what to set.
  }
  throw new TarballError(
    'npm is not installed here. Set LIBRARY_REGISTRY to the URL of an npm registry, or add a tarball file.',
  )
}

const rejectTarball = (error: unknown): never => {
  if (error instanceof TarballError) rejectRequest(error.message)
  throw error
}

export const addLibrary = operation({
  id: 'add_library',
  route: 'POST /operator/libraries',
  summary: 'Add an npm package by its name and version to the library store.',
  access: operator,
  input: { body: LibraryRequestSchema },
  output: { 200: AddedLibrarySchema },
  errors: writeErrors,
  run(ctx, { caller, body }) {
    const entry = { by: caller.name, did: 'add library', item: body.library, why: '' }
    const record = (db: Db) => recordAudit(ctx, db, entry)
    return addFromRegistry(ctx, body.library, record).catch(rejectTarball)
  },
})

export const removeLibrary = operation({
  id: 'remove_library',
  route: 'POST /operator/libraries/remove',
  onFullDisk: 'allow',
  summary: 'Remove an added library that no app uses.',
  access: operator,
  input: { body: LibraryRequestSchema },
  output: { 200: DoneSchema },
  errors: writeErrors,
  async run(ctx, { caller, body }) {
    const entry = { by: caller.name, did: 'remove library', item: body.library, why: '' }
    const record = (db: Db) => recordAudit(ctx, db, entry)
    await libraries.removeLibrary(ctx, body.library, record).catch(rejectTarball)
    return done
  },
})

export const libraryOperations = [addLibrary, removeLibrary]
