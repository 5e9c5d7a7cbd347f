import type { AppContext } from '../../kernel/context.ts'
import type { Agent } from '../../people/agents/agents.ts'
import type { Version } from '../apps.ts'
import { readTar } from '../folders/archive.ts'
import { nameCharsMax } from '../folders/limits.ts'
import { readPack, skillFile } from '../folders/read-pack.ts'
import type { PackKind } from '../kinds.ts'
import { findFreeName } from '../names.ts'
import { inspectContent, type StoredPage, storePage } from '../page-content.ts'

interface Original {
  kind: PackKind
  name: string
  /** Name that the remixer asked for. */
  newName: string | undefined
  version: Version
  tar: Uint8Array
}

/**
 * Scans and stores the content of a copy, with a name that is free for the remixer. A profit share
 * stays with the original. Throws `blocked_by_scan` and `try_again`.
 */
export async function copyPack(
  ctx: AppContext,
  agent: Agent,
  { kind, name: before, newName, version, tar }: Original,
): Promise<{ name: string; page: StoredPage }> {
  const name = newName ?? (await findFreeName(ctx, agent.id, before, nameCharsMax))
  const { renameSkill } = await import('../folders/frontmatter-yaml.ts')
  const files = readTar(tar).map((file) => {
    if (file.path !== skillFile) return file
    const text = renameSkill(new TextDecoder().decode(file.bytes), name)
    return { ...file, bytes: new TextEncoder().encode(text) }
  })
  const pack = await readPack(name === before ? readTar(tar) : files)
  const inspection = await inspectContent(ctx, kind, pack.tar)
  const { steps } = version.folder ?? {}
  const folder = { ...pack.folder, ...(steps && { steps }) }
  return { name, page: await storePage(ctx, { ...inspection, gzip: pack.gzip }, { folder }) }
}
