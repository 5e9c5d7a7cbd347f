import { writeFile } from 'node:fs/promises'

import type { TSchema } from '@sinclair/typebox'

import { environmentOnly } from '../../kernel/config/load.ts'
import { toText } from '../../kernel/config/setting-types.ts'
import { type Config, type ConfigRow, sections } from '../../kernel/config/settings.ts'
import { errorCodeOf } from '../../kernel/text.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'

const columns = 98

function comment(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines
}

const isBare = ({ type }: TSchema): boolean => type === 'integer' || type === 'boolean'

/** Returns a value as TOML. A switch is on or off in other places. */
const valueOf = (schema: TSchema, text: string): string =>
  isBare(schema) ? text.replace(/^on$/, 'true').replace(/^off$/, 'false') : JSON.stringify(text)

function settingLines(name: string, schema: TSchema, row: ConfigRow | undefined): string[] {
  const isSet = row?.source === 'environment' && !schema['secret']
  const value = valueOf(schema, isSet ? row.value : toText(schema.default))
  const line = `${name.toLowerCase()} = ${value}`
  return [...comment(schema.description ?? ''), isSet ? line : `# ${line}`, '']
}

/** Returns berth.toml: every setting with its description, those of the environment as lines. */
export function settingsToml({ rows }: Pick<Config, 'rows'>): string {
  const byName = new Map(rows.map((row): [string, ConfigRow] => [row.name, row]))
  const known: ReadonlySet<string> = environmentOnly
  const lines = Object.entries(sections).flatMap(([title, settings]) => [
    `## ${title}`,
    '',
    ...Object.entries<TSchema>(settings).flatMap(([name, schema]) =>
      known.has(name) ? [] : settingLines(name, schema, byName.get(name)),
    ),
  ])
  const intro = comment(
    'Settings of Berth. Remove the # of a line to set it. Environment variables with the same names in upper case win. See berth config for the values in force.',
  )
  return [...intro, '', ...lines].join('\n')
}

/** `berth config --write [file]`: writes a new settings file. */
export async function writeSettings(config: Config, file: string): Promise<CommandResult> {
  try {
    await writeFile(file, settingsToml(config), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
    return failed(`${file} exists. Name another file: berth config --write <file>`)
  }
  const next = 'Remove the # of a line to set it, and start the server again.'
  return succeeded(`Wrote ${file}. ${next}`, { file })
}
