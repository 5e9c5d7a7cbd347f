/** The counter of a project beside those of its keys. */
export const projectCounter = (id: string): string => `project:${id}`

/** Returns whether a list of ids and patterns, such as "openai/*", allows a model. */
export const allowsModel = (allowed: string[], id: string): boolean =>
  allowed.some((pattern) => matches(pattern, id))

/** An asterisk stands for any characters. */
function matches(pattern: string, id: string): boolean {
  const [start = '', ...parts] = pattern.split('*')
  if (parts.length === 0) return id === pattern
  if (!id.startsWith(start)) return false
  let at = start.length
  const end = parts.pop() ?? ''
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return id.length - end.length >= at && id.endsWith(end)
}
