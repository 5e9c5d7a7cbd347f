import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { homepage, releases, version } from '../../package.json'

const packaging = join(import.meta.dir, '../../packaging')

/** Fills the placeholders of a template in packaging/. */
export function filled(template: string, more: Record<string, string> = {}): string {
  const known: Record<string, string> = {
    HOMEPAGE: homepage,
    URL: releases.url,
    VERSION: version,
    ...more,
  }
  const text = readFileSync(join(packaging, template), 'utf8')
  return text.replaceAll(/@([A-Z0-9]+(?:_[\w-]+)?)@/g, (_, name: string) => {
    const value = known[name]
    if (value === undefined) throw new Error(`${template} has the unknown placeholder ${name}.`)
    return value
  })
}
