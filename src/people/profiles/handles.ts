import { ApiError } from '../../kernel/errors.ts'
import { isForbidden } from '../../kernel/forbidden-text.ts'
import { randomBelow } from '../../kernel/ids.ts'

/** The pattern of a handle (document 1, section 2). */
export const handlePattern = '^[a-z0-9][a-z0-9-]{1,28}[a-z0-9]$'
const pattern = new RegExp(handlePattern)

/** Words that suggest the service, one of its pages, or its staff. */
const reserved = new Set(
  `about abuse account accounts admin administrator agent agents anonymous api app apps auth berth
  billing blog bot catalogue chat claim contact credits demo docs explore frame gateway health help
  home host index info is key keys legal login logout mail mcp me moderator mod new news null
  official operator owner people pricing privacy report root search security service settings shop
  signin signup skill staff start status store studio support system team terms test tool tools
  topup undefined user users v1 wallet web webmaster www`.split(/\s+/),
)

/** Letters and pairs that look alike, mapped to one form. */
const confusables: [RegExp, string][] = [
  [/-/g, ''],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/cl/g, 'd'],
  [/0/g, 'o'],
  [/[1i!|]/g, 'l'],
  [/5/g, 's'],
  [/8/g, 'b'],
  [/2/g, 'z'],
]

/** Returns a handle with look-alike letters made equal (compare UTS 39, skeletons). */
export const skeletonOf = (handle: string): string =>
  confusables.reduce((text, [from, to]) => text.replace(from, to), handle)

const reservedSkeletons = new Set([...reserved].map(skeletonOf))

/** Returns whether a text has the format of a handle. */
export const isHandle = (text: string): boolean => pattern.test(text)

/** Throws `bad_handle` for a malformed handle, a slur, or a look-alike of a reserved word. */
export function validateHandle(handle: string): void {
  if (!isHandle(handle)) {
    const why = 'a handle has 3 to 30 of a-z, 0-9 and -, and starts and ends with a letter or digit'
    throw new ApiError('bad_handle', { why })
  }
  if (isForbidden(handle)) throw new ApiError('bad_handle', { why: 'it is a slur' })
  if (reservedSkeletons.has(skeletonOf(handle))) {
    throw new ApiError('bad_handle', { why: `"${handle}" is or resembles a reserved word` })
  }
}

const adjectives = `amber brave calm clear cosy deep eager early fair fleet gentle glad golden happy
  hazel ivory jolly keen kind lively lucky mellow merry misty noble plucky proud quick quiet ready
  rosy silent silver snug steady stout sunny swift tidal warm wise young zesty`.split(/\s+/)

const nouns = `anchor badger beacon beaver birch brook buoy canoe cedar cove crane current dock dune
  eagle ember falcon ferry finch fjord harbor heron island kayak kelp lagoon lark lantern marina
  moon oar orca osprey otter pearl pier puffin reef river sail seal skiff sparrow tern tide wave
  willow wren`.split(/\s+/)

/** Generates a handle: adjective-noun-4 digits. */
export function generateHandle(): string {
  const digits = String(randomBelow(10_000)).padStart(4, '0')
  return `${adjectives[randomBelow(adjectives.length)]}-${nouns[randomBelow(nouns.length)]}-${digits}`
}
