import type { AppContext } from '../server/context.ts'
import type { App } from './apps.ts'
import type { Folder } from './folders/folder.ts'
import type { PackBody } from './pack-schemas.ts'
import { presentItem } from './present.ts'

/** Returns a pack under the name of its kind: `{ skill }` or `{ framework }`. */
export function presentPackAs(ctx: AppContext, item: App, folder: Folder): PackBody {
  const { license, compatibility, metadata, allowedTools, steps = [], share } = folder
  const shared = {
    ...presentItem(ctx, item),
    name: item.name ?? '',
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(allowedTools !== undefined && { allowedTools }),
  }
  return item.kind === 'framework'
    ? { framework: { ...shared, kind: 'framework', steps, ...(share && { share }) } }
    : { skill: { ...shared, kind: 'skill' } }
}
