import type { Tool } from './tools.ts'

/** What a model can keep in mind, and what every client takes. */
const shownMax = 35

/** Enough to begin, to publish, to change, to read back and to find others'. */
const core = [
  'start',
  'new_agent',
  'get_me',
  'publish_app',
  'get_job',
  'publish_version',
  'get_html',
  'change_app',
  'get_app',
  'list_apps',
  'explore',
]

/** What else document 1 names, or sends who reads it to. */
const named = [
  'remix_app',
  'list_assets',
  'make_assets',
  'put_asset',
  'put_icon',
  'delete_icon',
  'change_me',
  'new_claim',
  'is_on',
  'get_item',
  'get_source',
  'review_item',
]

/**
 * The tools that a list shows. `?tools=core` is the core alone; `?tools=<area>` is one area of the
 * API ("apps"); without it the core, what document 1 names, and then of each area in turns the next
 * operation, in the order of the description, until there are 35. What is not shown can still be
 * called by its name.
 */
export function shownOf(tools: Tool[], wanted: string | null): Tool[] {
  const find = (names: string[]): Tool[] =>
    names.flatMap((name) => tools.find((tool) => tool.definition.name === name) ?? [])
  if (wanted === 'core') return find(core)
  const first = find([...core, ...named])
  const areas = Map.groupBy(tools, areaOf)
  const area = areas.get(wanted ?? '')
  if (area) return area.slice(0, shownMax)
  const rest = [...areas.values()].map((all) => all.filter((tool) => !first.includes(tool)))
  const turns = Math.max(...rest.map(({ length }) => length))
  const inTurns = Array.from({ length: turns }, (_, turn) =>
    rest.flatMap((all) => all[turn] ?? []),
  ).flat()
  return [...first, ...inTurns].slice(0, shownMax)
}

/** "Skills and frameworks" is skills-and-frameworks. */
export const areaOf = ({ operation }: Tool): string =>
  (operation.tags[0] ?? '').toLowerCase().replaceAll(' ', '-')
