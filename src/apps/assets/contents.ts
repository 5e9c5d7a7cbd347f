import type { AppContext } from '../../kernel/context.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { assets } from './tables.ts'

export const contents = [assets.sha256, assets.br, assets.zstd].map(contentReferences)

type FileRow = Pick<typeof assets.$inferSelect, 'name' | 'type' | 'sha256'>

/** Reads the bytes of assets. Skips those whose file is missing. */
export async function readFiles({ storage }: AppContext, rows: FileRow[]) {
  const files = await Promise.all(
    rows.map(async ({ name, type, sha256 }) => {
      const content = await storage.read(sha256)
      return content ? [{ name, type, sha256, content }] : []
    }),
  )
  return files.flat()
}
