import {
  addSpending,
  noSpending,
  type Spending,
  type SubjectKind,
  weightOf,
} from '../../../kernel/costs.ts'
import type { AppContext } from '../../context.ts'
import { type Collected, ServerReport } from './server-report.ts'

/** Clients of a kind that a server reports: more than the console shows, because it adds up. */
const clientsMax = 60
/** Restricted clients of a kind that a server reports. */
const restrictedMax = 200

/** The costs of one client at one server. */
export interface ClientCost {
  kind: SubjectKind
  name: string
  spending: Spending
}

const kinds: SubjectKind[] = ['address', 'account', 'key']

/** Returns the names of the restricted clients of a kind. */
export const restrictedNames = ({ restrictions }: AppContext, kind: SubjectKind): string[] =>
  restrictions
    .list()
    .flatMap(([subject]) => (subject.startsWith(`${kind}:`) ? subject.slice(kind.length + 1) : []))

/** Reports the most expensive clients, and what those with a restriction cost. */
function readCosts(ctx: AppContext, _input: null): ClientCost[] {
  const { costs } = ctx.state
  return kinds.flatMap((kind) => {
    const restricted = restrictedNames(ctx, kind)
      .filter((name) => weightOf(costs.spendingOf(kind, name)) > 0)
      .slice(0, restrictedMax)
    const top = costs.top(kind, clientsMax).map(({ name }) => name)
    return [...new Set([...restricted, ...top])].map((name) => ({
      kind,
      name,
      spending: costs.spendingOf(kind, name),
    }))
  })
}

export const clientCosts = new ServerReport('clients', readCosts)

/** Adds up the costs of the clients of a kind over all servers, the most expensive first. */
export function sumCosts(
  { reports }: Collected<ClientCost[]>,
  kind: SubjectKind,
): Map<string, Spending> {
  const sums = new Map<string, Spending>()
  for (const client of reports.flatMap(({ value }) => value)) {
    if (client.kind !== kind) continue
    const before = sums.get(client.name) ?? noSpending()
    sums.set(client.name, addSpending(before, client.spending))
  }
  return new Map([...sums].toSorted(([, a], [, b]) => weightOf(b) - weightOf(a)))
}
