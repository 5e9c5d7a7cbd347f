/** The environment of a process. */
export type Environment = Record<string, string | undefined>

const serviceName = /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const portName = /(^|_)PORT$/
const serviceAddress = /^(tcp|udp|sctp):\/\//

/**
 * Returns whether Kubernetes sets a variable for a Service, such as `BERTH_SERVICE_HOST` and
 * `BERTH_PORT=tcp://10.0.0.1:3000` for one named `berth`. Docker links have the same format.
 */
export const isServiceVariable = (name: string, value: string | undefined): boolean =>
  serviceName.test(name) || (portName.test(name) && serviceAddress.test(value ?? ''))

/** Returns the message for a name that is no setting, with the nearest of the known names. */
export function unknownSetting(shown: string, name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((other) => ({ other, edits: countEdits(name, other) }))
    .filter(({ other, edits }) => edits <= Math.max(2, Math.floor(other.length / 3)))
    .toSorted((a, b) => a.edits - b.edits)
  const advice = nearest ? `Did you mean ${nearest.other}?` : 'See: berth config'
  return `${shown} is not a setting of Berth. ${advice}`
}

/** Counts the characters to insert, delete or replace between two texts (Levenshtein). */
function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [line, char] of [...from].entries()) {
    const next = [line + 1]
    for (const [at, other] of [...to].entries()) {
      const [replaced = 0, deleted = 0, inserted = 0] = [row[at], row[at + 1], next[at]]
      next.push(Math.min(replaced + (char === other ? 0 : 1), deleted + 1, inserted + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
